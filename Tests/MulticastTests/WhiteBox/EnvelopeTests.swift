import MulticastTestSupport
import Testing

@testable import Multicast

private enum Small: UInt8, Sendable { case first, second }

private struct Eight: Sendable, Equatable {
  var left: Int32
  var right: Float
}

private struct Nine: Sendable, Equatable {
  var left: Int64
  var right: UInt8
}

@Suite(
  "An envelope returns the event that was put into it; small events without references need no box")
struct EnvelopeTests {
  /// - Returns: whether there is a box.
  private func roundTrip<Event: Sendable & Equatable>(_ event: Event) -> Bool {
    let envelope = Envelope(event: event)
    let copy = envelope
    #expect(copy.event(Event.self) == event)
    #expect(envelope.event(Event.self) == event)
    return envelope.object != nil
  }

  @Test("small values without references, without a box")
  func small() {
    for value in [Int.min, -1, 0, 1, .max] { #expect(!roundTrip(value)) }
    for value in [-Double.infinity, -0.0, 1.5] { #expect(!roundTrip(value)) }
    #expect(!roundTrip(true) && !roundTrip(false))
    #expect(!roundTrip(Small.second))
    #expect(!roundTrip(Eight(left: -7, right: 2.5)))
    #expect(!roundTrip(UInt8(255)))
    #expect(!roundTrip(Int32?.none) && !roundTrip(Int32?.some(-1)))
    let nothing = Envelope(event: ())
    #expect(nothing.object == nil && nothing.event(Void.self) == ())
  }

  @Test("larger values, and values with references, in a box")
  func boxed() {
    #expect(roundTrip(Nine(left: -1, right: 200)))
    #expect(roundTrip(Int?.none) && roundTrip(Int?.some(-1)))
    #expect(roundTrip("a string") && roundTrip([1, 2, 3]))
  }

  @Test("an object is kept exactly as long as an envelope has it")
  func lifetime() {
    let tracker = LifetimeTracker()
    do {
      let envelope = Envelope(event: RecordingObserver(tracker: tracker))
      #expect(envelope.object != nil && tracker.live == 1)
      let copy = envelope
      #expect(copy.event(RecordingObserver.self) === envelope.event(RecordingObserver.self))
    }
    #expect(tracker.live == 0)
  }
}
