@testable import Multicast

extension MulticastActor {
  /// The number of invocations that wait.
  var waitingCount: Int { invocationQueue.waiting.count }
}
