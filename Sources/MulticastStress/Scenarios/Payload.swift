import ConcurrencyStress

/// An event whose lifetime is counted.
final class Payload: Sendable {
  /// The sender, and the number of the event among those of the sender, counted from 1.
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
