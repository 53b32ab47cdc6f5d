import Dispatch
import MulticastTestSupport
import Testing

@testable import Multicast

@Suite("Events in a log elsewhere, under concurrency: neither a gap nor a duplicate")
struct ExternalLogLawTests: ExternalLogSuite {
  /// What the log has of what the hub does not retain any more.
  enum Reach: CaseIterable {
    case everything, something, nothing
  }

  /// The topics of a subscriber.
  private enum Selection: Sendable {
    case names([String])
    case patterns([TopicPattern])

    func contains(_ topic: String) -> Bool {
      switch self {
      case .names(let names): names.contains(topic)
      case .patterns(let patterns): patterns.contains { $0.matches(topic) }
      }
    }
  }

  /// An event by its number, or a range of a topic.
  private enum Received: Sendable {
    case event(UInt64, String)
    case missed(ClosedRange<UInt64>, String?)
  }

  // Not stored: the leak check does not find what an enumeration in memory for good refers to.
  private static var selections: [Selection] {
    [
      .names(["busy"]), .names(["quiet"]), .names(["busy", "quiet"]),
      .names(["quiet", "busy", "x.1", "x.2"]), .patterns([">"]), .patterns(["x.*", "quiet"]),
      .patterns(["x.1", "x.>", "busy"]),
    ]
  }

  private typealias Element = PositionedTopicEvent<Int>

  /// Reads until the hub has finished, and begins anew after the last position now and then.
  private func follow(
    _ hub: Hub, _ selection: Selection, _ interval: Int, withHandler hasHandler: Bool
  ) async -> [Received] {
    var received: [Received] = []
    var last = at(0)
    var isOver = false
    while !isOver {
      let elements: [Element]
      (elements, isOver) =
        hasHandler
        ? await handle(hub, selection, last, interval) : await read(hub, selection, last, interval)
      for element in elements {
        switch element {
        case .event(let event, at: let position):
          #expect(position > last)
          received.append(.event(position.number, event.topic))
          last = position
        case .missed(let range, of: let topic):
          received.append(.missed(range.after.number + 1...range.through.number, topic))
        }
      }
    }
    return received
  }

  /// The next `count` elements of a sequence, and whether there are no more.
  private func read(
    _ hub: Hub, _ selection: Selection, _ last: EventPosition, _ count: Int
  ) async -> ([Element], isOver: Bool) {
    let sequence =
      switch selection {
      case .names(let names): hub.events(for: names, from: .after(last))
      case .patterns(let patterns): hub.events(matching: patterns, from: .after(last))
      }
    var elements: [Element] = []
    for await element in sequence {
      elements.append(element)
      // After an event, because the position of a range is not that of the subscriber.
      if elements.count >= count, element.payload != nil { return (elements, false) }
    }
    return (elements, true)
  }

  /// What a handler receives until it has at least `count` elements, and whether there are no more.
  private func handle(
    _ hub: Hub, _ selection: Selection, _ last: EventPosition, _ count: Int
  ) async -> ([Element], isOver: Bool) {
    let received = TopicElements()
    let handler: @Sendable (Element) -> Void = { received.receive($0) }
    let subscription =
      switch selection {
      case .names(let names):
        hub.subscribe(to: names, from: .after(last), on: .global(), handler)
      case .patterns(let patterns):
        hub.subscribe(matching: patterns, from: .after(last), on: .global(), handler)
      }
    await eventually { received.count >= count || !subscription.isActive }
    let isOver = subscription.end == .finished
    await subscription.cancelAndWait()
    return (received.elements, isOver)
  }

  @Test(
    "each subscriber gets each event of its names and patterns once, or the range that is missing",
    arguments: Reach.allCases)
  func law(reach: Reach) async {
    let broker = Broker()
    await broker.setPageLimit(7)
    if reach == .nothing { await broker.setReachable(false) }
    let (hub, writer) = make(broker, keeping: 8)
    writer.begin(epoch: 7, after: 0)
    let readers = Self.selections.enumerated().flatMap { index, selection in
      [false, true].map { hasHandler in
        Task {
          let interval = 5 + 16 * index
          return (selection, await follow(hub, selection, interval, withHandler: hasHandler))
        }
      }
    }
    var topics: [String] = []
    for number in 1...1_500 {
      // The hub keeps all of the quiet topic.
      let isQuiet = number.isMultiple(of: 200)
      let topic = isQuiet ? "quiet" : ["busy", "busy", "x.1", "x.2"][(number &* 7) % 4]
      topics.append(topic)
      await broker.append(number, to: topic, UInt64(number))
      writer.deliver(number, to: topic, number: UInt64(number))
      if reach == .something {
        if number.isMultiple(of: 97) { await broker.setReachable(number.isMultiple(of: 2)) }
        if number.isMultiple(of: 150) { await broker.trim(through: UInt64(number - 120)) }
      }
    }
    hub.finish()
    for reader in readers {
      let (selection, received) = await reader.value
      var events: Set<UInt64> = []
      for case .event(let number, let topic) in received {
        #expect(events.insert(number).inserted && topics[Int(number) - 1] == topic)
        #expect(selection.contains(topic))
      }
      for (index, topic) in topics.enumerated() where selection.contains(topic) {
        let number = UInt64(index + 1)
        guard !events.contains(number) else { continue }
        let isReported = received.contains {
          if case .missed(let range, let missed) = $0 {
            range.contains(number) && (missed == topic || missed == nil)
          } else {
            false
          }
        }
        #expect(isReported && reach != .everything, "\(topic) \(number)")
        #expect(topic != "quiet", "\(number)")
      }
      let isAnyMissed = received.contains { if case .missed = $0 { true } else { false } }
      #expect(reach != .everything || !isAnyMissed)
    }
  }
}
