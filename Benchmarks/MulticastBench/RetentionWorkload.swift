internal import BenchmarkHarness
internal import Multicast

extension Workload {
  /// A hub that retains events, beside one with a total order that does not.
  static var retention: Workload {
    Workload("retention", summary: "a hub that retains events: one send, a replay, and memory") {
      _ in
      RetentionSend.experiments + [RetentionReplay.experiment] + RetentionMemory.experiments
    }
  }
}

/// An event that is an object.
private final class Message: Sendable {
  let number: Int

  init(_ number: Int) { self.number = number }
}

/// A string that needs memory of its own.
private let text = String(repeating: "event ", count: 8)

/// One send on a hub that retains 128 events, which are all there.
private enum RetentionSend {
  static var experiments: [Experiment] {
    [0, 1].flatMap { handlers in
      [
        experiment("structure", handlers) { Tick(integerLiteral: 1) },
        experiment("String", handlers) { text },
        experiment("class", handlers, event: { [message = Message(1)] in message }),
      ]
    }
  }

  private static func experiment<Event: Sendable>(
    _ type: String, _ handlers: Int, event: @escaping () -> Event
  ) -> Experiment {
    let detail = handlers == 0 ? "no subscriber" : "one handler"
    return Experiment(
      "retention/send/\(type)/\(handlers == 0 ? "no-subscriber" : "handler")", detail: detail,
      requirements: [
        Requirement(
          "send with .last(128), \(type), \(detail), beside a total order, in ns", .atMost(20)
        ) {
          $0.difference("last(128)", to: "total order")
        }
      ]
    ) {
      [
        measured(
          "total order", EventHub<Event>(ordering: .total), handlers, event(), isBaseline: true),
        measured("last(128)", EventHub<Event>(retention: .last(128)), handlers, event()),
      ]
    }
  }

  private static func measured<Event: Sendable>(
    _ system: String, _ hub: EventHub<Event>, _ handlers: Int, _ event: Event,
    isBaseline: Bool = false
  ) -> Case {
    let listeners = Listeners(handlers)
    let subscriptions = listeners.observers.map { observer in
      hub.subscribe { _ in observer.notify(1) }
    }
    for _ in 0..<1000 { hub.send(event) }
    _ = listeners.takeReceived()
    return Case(system, size: handlers, isBaseline: isBaseline, metrics: [.time]) { iterations in
      let start = MonotonicClock.nanoseconds
      for _ in 0..<iterations { hub.send(event) }
      let elapsed = MonotonicClock.nanoseconds - start
      withExtendedLifetime(subscriptions) {}
      try WrongResult.check(
        system, delivered: listeners.takeReceived(), expected: iterations * handlers)
      return [Double(elapsed) / Double(iterations)]
    }
  }
}

/// What is retained, to one sequence that comes late.
private enum RetentionReplay {
  private static let events = 10_000

  static var experiment: Experiment {
    Experiment(
      "retention/replay", detail: "\(events) events",
      requirements: [
        Requirement(
          "replay of \(events) events to a sequence, in million events per s", .atLeast(20)
        ) {
          $0.best("last(\(events))").map { 1000 / $0 }
        }
      ]
    ) {
      [
        Case("last(\(events))", metrics: [.time]) { iterations in
          let hub = EventHub<Tick>(retention: .last(events))
          for event in 0..<events { hub.send(Tick(integerLiteral: event)) }
          hub.finish()
          let (elapsed, received) = AsyncWork.run {
            var received = 0
            let start = MonotonicClock.nanoseconds
            for _ in 0..<iterations {
              for await element in hub.events(from: .retained) where element.event != nil {
                received += 1
              }
            }
            return (MonotonicClock.nanoseconds - start, received)
          }
          try WrongResult.check("retention", delivered: received, expected: iterations * events)
          return [Double(elapsed) / Double(received)]
        }
      ]
    }
  }
}

/// What a retained event takes, beside what the event itself takes in a box.
private enum RetentionMemory {
  private static let memory = Metric("memory", unit: "bytes")
  private static let events = 100_000

  static var experiments: [Experiment] {
    guard Heap.bytesInUse != nil else { return [] }
    let kinds: [(String, Retention<Message>)] = [
      ("last", .last(events)), ("all", .all), ("bytes", .bytes(events) { _ in 1 }),
      ("age", .seconds(3600)),
    ]
    return [
      Experiment(
        "retention/memory", detail: "\(events) events", sampling: .few,
        requirements: kinds.map { name, _ in
          Requirement(
            "memory of a retained event with .\(name), beside its box, in bytes", .atMost(24)
          ) {
            $0.difference(name, to: "box", memory)
          }
        }
      ) {
        [boxes] + kinds.map(measured)
      }
    ]
  }

  /// The event, and a box with a reference to it.
  private static var boxes: Case {
    Case("box", isBaseline: true, metrics: [memory], iterations: 1) { _ in
      var boxes: [AnyObject] = []
      boxes.reserveCapacity(events)
      let before = Heap.bytesInUse ?? 0
      for number in 0..<events { boxes.append(Box(Message(number))) }
      let after = Heap.bytesInUse ?? 0
      blackHole(boxes)
      return [Double(after - before) / Double(events)]
    }
  }

  private final class Box {
    let event: Message

    init(_ event: Message) { self.event = event }
  }

  private static func measured(_ name: String, _ retention: Retention<Message>) -> Case {
    Case(name, metrics: [memory], iterations: 1) { _ in
      let hub = EventHub<Message>(retention: retention)
      let before = Heap.bytesInUse ?? 0
      for number in 0..<events { hub.send(Message(number)) }
      let after = Heap.bytesInUse ?? 0
      guard hub.newestPosition.number == events else { throw WrongResult("\(name) lost events") }
      return [Double(after - before) / Double(events)]
    }
  }
}
