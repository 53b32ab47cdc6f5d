import Multicast
import Testing

@Suite("Batches with notes: the number of dropped events where they were dropped")
struct NotingBatchTests {
  /// Events, and the negative numbers of dropped ones.
  private func numbers(_ batch: [EventSequence<Int>.Noted]?) -> [Int]? {
    batch?.map { element in
      switch element {
      case .event(let event): event
      case .dropped(let count): -count
      }
    }
  }

  @Test("before the event that follows them", arguments: [false, true])
  func before(_ batchesFirst: Bool) async {
    let hub = EventHub<Int>()
    let events = hub.events(buffering: .bounded(2, whenFull: .dropOldest))
    let iterator =
      batchesFirst
      ? events.batches(upTo: 9).notingDrops().makeAsyncIterator()
      : events.notingDrops().batches(upTo: 9).makeAsyncIterator()
    hub.send(contentsOf: 0..<5)
    #expect(numbers(await iterator.next()) == [-3, 3, 4])
    hub.send(contentsOf: 5..<7)
    #expect(numbers(await iterator.next()) == [5, 6])
  }

  @Test("between events, and alone after the last one; the limit is for the events")
  func betweenAndAfter() async {
    let hub = EventHub<Int>()
    let iterator = hub.events(buffering: .bounded(2, whenFull: .dropNewest)).batches(upTo: 2)
      .notingDrops().makeAsyncIterator()
    hub.send(contentsOf: 0..<3)
    #expect(numbers(await iterator.next()) == [0, 1])
    hub.send(contentsOf: 3..<6)
    #expect(numbers(await iterator.next()) == [-1, 3, 4])
    hub.finish()
    #expect(numbers(await iterator.next()) == [-1])
    #expect(numbers(await iterator.next()) == nil)
    #expect(iterator.statistics.delivered == 4 && iterator.statistics.dropped == 2)
    #expect(iterator.end == .finished)
  }

  @Test(
    "a cancelled task, and a subscription that was cancelled after the end, get no number",
    arguments: [
      BufferingPolicy<Int>.bounded(1, whenFull: .dropNewest), .bounded(1, whenFull: .disconnect),
    ], 0..<3)
  func cancelled(buffering: BufferingPolicy<Int>, batchLimit: Int) async {
    for cancelsTask in [false, true] {
      let hub = EventHub<Int>()
      let events = hub.events(buffering: buffering)
      hub.send(contentsOf: 0..<3)
      if cancelsTask { hub.finish() } else { hub.cancelSubscriptions() }
      let task = Task { () -> [[Int]?] in
        if cancelsTask { withUnsafeCurrentTask { $0?.cancel() } }
        guard batchLimit > 0 else {
          var iterator = events.notingDrops().makeAsyncIterator()
          let first = await iterator.next()
          return [numbers(first.map { [$0] }), numbers(await iterator.next().map { [$0] })]
        }
        let iterator = events.notingDrops().batches(upTo: batchLimit).makeAsyncIterator()
        return [numbers(await iterator.next()), numbers(await iterator.next())]
      }
      #expect(await task.value == [nil, nil])
    }
  }
}
