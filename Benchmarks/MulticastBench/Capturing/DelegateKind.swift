internal import Multicast

/// Delegates of one type, and the code of a user that calls them.
///
/// Each kind writes its loops out, because a user does: nothing here is generic where it is
/// measured.
protocol DelegateKind {
  associatedtype Delegate
  associatedtype BareDelegates

  static var name: String { get }

  init(_ count: Int)

  /// The events that all of them have received since the last call.
  func takeReceived() -> Int

  func hub(_ ownership: Ownership) -> MulticastDelegate<Delegate>
  func bareList(_ ownership: Ownership) -> BareDelegates
  func handlers(_ ownership: Ownership, _ captured: Captured) -> [@Sendable (Int) -> Void]
  func subscribe(
    to hub: EventHub<Int>, _ ownership: Ownership, _ captured: Captured
  ) -> [EventSubscription]

  static func notify(_ list: BareDelegates, _ captured: Captured, _ iterations: Int)
  static func forEach(
    _ hub: MulticastDelegate<Delegate>, _ captured: Captured, _ iterations: Int)
  static func invoke(_ hub: MulticastDelegate<Delegate>, _ captured: Captured, _ iterations: Int)
  /// - Returns: the number of answers.
  static func collect(
    _ hub: MulticastDelegate<Delegate>, _ captured: Captured, _ iterations: Int
  ) -> Int
  /// - Returns: the number of answers.
  static func results(
    _ hub: MulticastDelegate<Delegate>, _ captured: Captured, _ iterations: Int
  ) -> Int
}
