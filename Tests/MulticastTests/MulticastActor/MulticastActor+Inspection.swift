@testable import Multicast

extension MulticastActor {
  /// How many invocations wait for their turn.
  var waitingCount: Int { invocationQueue.waiting.count }
}
