import Foundation
import Multicast
import Synchronization
import Testing

@testable import MulticastDemo

@Suite struct FanOutTests {
  /// A delegate that counts, and fails when it has received so many events.
  private final class Recorder: EventDelegate {
    struct Failure: Error {}

    let received = Atomic(0)
    private let limit: Int

    init(limit: Int = .max) {
      self.limit = limit
    }

    func didReceive(_ event: Event) throws {
      guard received.wrappingAdd(1, ordering: .relaxed).newValue < limit else { throw Failure() }
    }

    func didFinish() -> Summary {
      Summary(title: "recorder", received: received.load(ordering: .relaxed))
    }
  }

  @Test(arguments: [1, 2, 8], StorageStrategy.allCases)
  func eachDelegateReceivesEachEventOnce(_ threads: Int, _ storage: StorageStrategy) throws {
    let source = SampleSource(count: 20_000)
    let recorders = [Recorder(), Recorder(), Recorder()]
    let delegates = MulticastDelegate<any EventDelegate>(storage: storage)
    for recorder in recorders { delegates.add(recorder) }
    try FanOut(source: source, delegates: delegates).run(threads: threads)
    #expect(source.eventsRead == 20_000)
    #expect(recorders.map { $0.didFinish().received } == [20_000, 20_000, 20_000])
  }

  @Test func theCounterLosesNothingToConcurrency() throws {
    let counter = KeyCounter(field: 1, top: 8)
    let delegates = MulticastDelegate<any EventDelegate>()
    delegates.add(counter)
    let alone = KeyCounter(field: 1, top: 8)
    let sample = SampleSource(count: 50_000)
    while let events = sample.next() { events.forEach(alone.didReceive) }
    try FanOut(source: SampleSource(count: 50_000), delegates: delegates).run(threads: 4)
    #expect(counter.didFinish() == alone.didFinish())
    #expect(counter.didFinish().received == 50_000)
  }

  @Test(arguments: [1, 4])
  func theFailureOfADelegateEndsTheRun(_ threads: Int) {
    let recorder = Recorder(limit: 10)
    let delegates = MulticastDelegate<any EventDelegate>()
    delegates.add(recorder)
    #expect(throws: Recorder.Failure.self) {
      try FanOut(source: SampleSource(count: 1000), delegates: delegates).run(threads: threads)
    }
    #expect(recorder.didFinish().received < 1000)
  }

  @Test(.timeLimit(.minutes(10)))
  func theFailureOfADelegateIsToldThoughOthersWaitForInput() throws {
    /// One event, and then nothing for ever.
    final class StalledSource: EventSource {
      private let given = Atomic(false)
      var name: String { "stalled" }
      var eventsRead: Int { 1 }

      func next() -> [Event]? {
        guard given.exchange(true, ordering: .relaxed) else { return [Event("a")] }
        DispatchSemaphore(value: 0).wait()
        return nil
      }
    }
    let recorder = Recorder(limit: 1)
    let delegates = MulticastDelegate<any EventDelegate>()
    delegates.add(recorder)
    #expect(throws: Recorder.Failure.self) {
      try FanOut(source: StalledSource(), delegates: delegates).run(threads: 3)
    }
  }
}
