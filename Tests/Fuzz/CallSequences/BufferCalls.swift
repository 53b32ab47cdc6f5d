import ConcurrencyStress
import Multicast

/// Sends to an `EventHub`, and reads from sequences with all buffering policies, compared with
/// lists.
///
/// The calls run as one schedule: a consumer or sender that sleeps where the model has something
/// for it is a deadlock.
public enum BufferCalls: CallSequence {
  public static let name = "buffers"

  public static func run(_ bytes: [UInt8]) -> String? {
    let test = ScheduleTest(patience: 0.05) { schedule in
      var run = BufferRun(bytes)
      await run.perform()
      if let violation = run.violation { schedule.fail(violation) }
    }
    return test.replay(choices: []).failure?.messages.first
  }
}

/// One subscriber, as the model has it.
private struct ModelBuffer {
  enum Policy: Equatable {
    case bounded(OverflowPolicy)
    case coalescing
    case unbounded
  }

  struct Item {
    var event: Int
    var dropped: Int
  }

  let policy: Policy
  let limit: Int
  var waiting: [Item] = []
  var taken: [Item] = []
  /// Those that wait for space, with the number of their sender.
  var parked: [(item: Item, sender: Int)] = []
  var droppedAtEnd = 0
  var end: SubscriptionEnd?
  var statistics = (enqueued: 0, delivered: 0, dropped: 0)

  /// - Parameter sender: the number of a sender that can wait.
  mutating func append(_ event: Int, sender: Int?) {
    guard end == nil else { return }
    statistics.enqueued += 1
    if policy == .coalescing, let index = waiting.firstIndex(where: { $0.event % 3 == event % 3 }) {
      waiting[index].event = event
      waiting[index].dropped += 1
      statistics.dropped += 1
      return
    }
    guard waiting.count >= limit else {
      waiting.append(take(event))
      return
    }
    if policy == .bounded(.suspend), let sender {
      parked.append((take(event), sender))
      return
    }
    statistics.dropped += 1
    if policy == .bounded(.dropOldest) {
      let oldest = waiting.removeFirst()
      waiting.append(take(event))
      waiting[0].dropped += oldest.dropped + 1
    } else {
      droppedAtEnd += 1
      if policy == .bounded(.disconnect) { end = .disconnected }
    }
  }

  private mutating func take(_ event: Int) -> Item {
    defer { droppedAtEnd = 0 }
    return Item(event: event, dropped: droppedAtEnd)
  }

  /// Whether `next` returns without waiting.
  var hasNext: Bool { !taken.isEmpty || !waiting.isEmpty || end != nil }

  enum Element: Equatable {
    case event(Int)
    case dropped(Int)
    case end
  }

  mutating func next() -> Element {
    if taken.isEmpty {
      let count = min(64, limit, waiting.count)
      taken = Array(waiting.prefix(count))
      waiting.removeFirst(count)
      while end == nil, waiting.count < limit, !parked.isEmpty {
        waiting.append(parked.removeFirst().item)
      }
    }
    guard !taken.isEmpty else {
      defer { droppedAtEnd = 0 }
      return droppedAtEnd > 0 ? .dropped(droppedAtEnd) : .end
    }
    if taken[0].dropped > 0 {
      defer { taken[0].dropped = 0 }
      return .dropped(taken[0].dropped)
    }
    statistics.delivered += 1
    return .event(taken.removeFirst().event)
  }

  mutating func finish() {
    guard end == nil else { return }
    end = .finished
    waiting += parked.map(\.item)
    parked = []
  }
}

private struct BufferRun {
  private typealias Iterator = EventSequence<Int>.Noting.Iterator

  private var bytes: CallBytes
  private let hub: EventHub<Int>
  private var subscribers: [(model: ModelBuffer, iterator: Iterator)] = []
  private var senders: [Task<Bool, Never>] = []
  private var events = 0
  private var isFinished = false
  private var refused = 0
  private(set) var violation: String?

  init(_ bytes: [UInt8]) {
    var bytes = CallBytes(bytes)
    hub = EventHub(
      ordering: Ordering.allCases[bytes.next(Ordering.allCases.count)],
      storage: StorageStrategy.allCases[bytes.next(StorageStrategy.allCases.count)])
    self.bytes = bytes
  }

  mutating func perform() async {
    while !bytes.isEmpty && violation == nil {
      await act()
      compare()
    }
    // What waits is delivered.
    hub.finish()
    finishModel()
    for index in subscribers.indices {
      while violation == nil, await next(index) != .end {}
    }
    compare()
    for sender in senders {
      let accepted = await sender.value
      if !accepted { fail("a sender that waited was not accepted") }
    }
  }

  private mutating func fail(_ message: String) {
    if violation == nil { violation = message }
  }

  private mutating func act() async {
    switch bytes.next(12) {
    case 0, 1: subscribe()
    case 2, 3, 4: send(waiting: false)
    case 5:
      send(waiting: true)
      // The sender runs until it waits or has ended.
      for _ in 0..<8 { await Task.yield() }
    case 6, 7, 8, 9:
      guard !subscribers.isEmpty else { return }
      let index = bytes.next(subscribers.count)
      guard subscribers[index].model.hasNext else { return }
      _ = await next(index)
    case 10:
      guard !subscribers.isEmpty else { return }
      // The iterator ends its subscription, and lets senders that wait for it go on.
      subscribers.remove(at: bytes.next(subscribers.count))
    default:
      guard bytes.next(8) == 0 else { return }
      hub.finish()
      finishModel()
    }
  }

  private mutating func subscribe() {
    guard subscribers.count < 4 else { return }
    let limit = 1 + bytes.next(3)
    let kind = bytes.next(6)
    let policy: ModelBuffer.Policy
    let buffering: BufferingPolicy<Int>
    switch kind {
    case 0..<4:
      let full = OverflowPolicy.allCases[kind]
      (policy, buffering) = (.bounded(full), .bounded(limit, whenFull: full))
    case 4: (policy, buffering) = (.coalescing, .coalescing { $0 % 3 })
    default: (policy, buffering) = (.unbounded, .unbounded)
    }
    var model = ModelBuffer(policy: policy, limit: kind < 4 ? limit : .max)
    if isFinished { model.finish() }
    subscribers.append(
      (model, hub.events(buffering: buffering).notingDrops().makeAsyncIterator()))
  }

  private mutating func send(waiting: Bool) {
    events += 1
    if waiting {
      senders.append(
        Task { [hub, events, isFinished] in
          await hub.sendWaiting(events) != isFinished
        })
    } else {
      hub.send(events)
    }
    if isFinished { refused += 1 }
    for index in subscribers.indices {
      subscribers[index].model.append(events, sender: waiting ? senders.count : nil)
    }
  }

  private mutating func finishModel() {
    isFinished = true
    for index in subscribers.indices { subscribers[index].model.finish() }
  }

  private mutating func next(_ index: Int) async -> ModelBuffer.Element {
    let expected = subscribers[index].model.next()
    let actual: ModelBuffer.Element =
      switch await subscribers[index].iterator.next() {
      case .event(let event): .event(event)
      case .dropped(let count): .dropped(count)
      case nil: .end
      }
    if actual != expected {
      fail("\(subscribers[index].model.policy): \(actual) came, not \(expected)")
    }
    return actual
  }

  private mutating func compare() {
    for (model, iterator) in subscribers {
      let (actual, expected) = (iterator.statistics, model.statistics)
      // After the end it depends on the moment whether an event is still counted, and discarded.
      let enqueued =
        model.end == .disconnected ? actual.enqueued - actual.discarded : actual.enqueued
      if (enqueued, actual.delivered, actual.dropped) != expected {
        fail("\(model.policy): \(actual), not \(expected)")
      }
      if iterator.end != model.end {
        fail(
          "\(model.policy): the end is \(String(describing: iterator.end)), not \(String(describing: model.end))"
        )
      }
    }
    if hub.statistics.refused != refused {
      fail("\(hub.statistics.refused) events were refused, not \(refused)")
    }
    let active = subscribers.count { $0.model.end == nil }
    if hub.subscriberCount != active {
      fail("\(hub.subscriberCount) subscribers are counted, not \(active)")
    }
  }
}
