import MulticastTestSupport
import Testing

@testable import Multicast

@Suite("HubState")
struct HubStateTests {
  @Test("the number that a sender returns is not negative if a removal is counted first")
  func removalBeforeAddition() {
    let counter = HubState()
    counter.add(-1)
    #expect(counter.total == 0)
    counter.add(1)
    #expect(counter.total == 0)
    counter.add(1)
    #expect(counter.total == 1)
  }

  private struct Failure: Error {}

  @Test("a sequence outlives its hub with the error, and without what hooks and handlers captured")
  func sequenceOutlivesHub() async throws {
    let tracker = LifetimeTracker()
    let sequence: EventSequence<Int>.Throwing
    let positioned: PositionedSequence<Int>
    do {
      let (hooked, watching) = (
        RecordingObserver(1, tracker: tracker), RecordingObserver(2, tracker: tracker)
      )
      let hub = EventHub<Int>(retention: .last(1), onFirstSubscriber: { hooked.receive(0) })
      hub.warnOfLeaks(above: 100) { _ in watching.receive(0) }
      hub.measureHandlers { _ in watching.receive(0) }
      sequence = hub.events().throwingFailure()
      positioned = hub.events(from: .live)
      _ = (sequence.makeAsyncIterator(), positioned.makeAsyncIterator())
      hub.finish(throwing: Failure())
    }
    #expect(tracker.live == 0)
    await #expect(throws: Failure.self) { for try await _ in sequence {} }
    for await _ in positioned {}
  }

  @Test("a source is released when its hub has finished, and its hooks do not keep it")
  func sourceIsReleased() {
    final class Source: HubSource {
      let stops: Counter
      let target: RecordingObserver
      init(_ stops: Counter, _ tracker: LifetimeTracker) {
        self.stops = stops
        target = RecordingObserver(tracker: tracker)
      }
      func stop() { stops.add() }
    }
    let (stops, tracker) = (Counter(), LifetimeTracker())
    let hub = EventHub<Int>(
      ordering: .perSender, storage: .waitFree,
      state: DetailedState(nil, source: Source(stops, tracker)))
    #expect(tracker.live == 1 && stops.value == 0)
    hub.finish()
    hub.finish()
    #expect(tracker.live == 0 && stops.value == 1)
  }
}
