import MulticastTestSupport

/// An event that is counted as long as it exists.
final class Payload: Sendable {
  /// Who has sent it, and as which of its events, counted from 1.
  let sender: Int
  let number: Int
  private let lifetimes: LifetimeTracker

  init(_ number: Int, from sender: Int, _ lifetimes: LifetimeTracker) {
    self.sender = sender
    self.number = number
    self.lifetimes = lifetimes
    lifetimes.noteCreation()
  }

  deinit { lifetimes.noteDestruction() }
}
