import Multicast
import MulticastTestSupport

/// An actor that a test runs, of which several tasks await the next element of one iterator.
actor SteppedTaker {
  nonisolated let executor = SteppedExecutor()
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
  private let next: () async -> Int?
  private let journal: Journal
  nonisolated let begun = Counter()

  init(_ journal: Journal, _ next: sending @escaping () async -> Int?) {
    self.journal = journal
    self.next = next
  }

  /// Takes as many events, and yields after 256, which are as many as a reader reads at once.
  func take(_ count: Int = 1) async {
    begun.add()
    for index in 0..<count {
      if index == 256 { await Task.yield() }
      if let event = await next() { journal.record(event) }
    }
  }
}

/// The iterators that several tasks of one actor may share.
enum SharedIterator: CaseIterable {
  case events
  case eventsWithNotes
  case positions
  case topicPositions

  /// A hub's `send`, and the `next` of an iterator over its events.
  func make() -> (send: @Sendable (Int) -> Void, next: () async -> Int?) {
    switch self {
    case .events:
      let hub = EventHub<Int>()
      let iterator = hub.events().makeAsyncIterator()
      return ({ hub.send($0) }, { await iterator.next() })
    case .eventsWithNotes:
      let hub = EventHub<Int>()
      let iterator = hub.events().notingDrops().makeAsyncIterator()
      return (
        { hub.send($0) },
        {
          var iterator = iterator
          guard case .event(let event) = await iterator.next() else { return nil }
          return event
        }
      )
    case .positions:
      let hub = EventHub<Int>(retention: .last(1000))
      let iterator = hub.events(from: .live).makeAsyncIterator()
      return (
        { hub.send($0) },
        {
          var iterator = iterator
          guard case .event(let event, _) = await iterator.next() else { return nil }
          return event
        }
      )
    case .topicPositions:
      let hub = TopicHub<String, Int>(retention: .last(1000))
      let iterator = hub.events(for: "topic", from: .live).makeAsyncIterator()
      return (
        { hub.send($0, to: "topic") },
        {
          var iterator = iterator
          guard case .event(let event, _) = await iterator.next() else { return nil }
          return event.event
        }
      )
    }
  }
}
