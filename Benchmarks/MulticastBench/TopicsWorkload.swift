internal import BenchmarkHarness
internal import Multicast
internal import Synchronization

extension Workload {
  /// `TopicHub` with very many topics.
  static var topics: Workload {
    Workload("topics", summary: "a TopicHub with N topics: one send, and memory") { settings in
      settings.sizes(or: [100_000]).flatMap { size in
        [TopicSend(size: size).experiment] + TopicMemory.experiments(size)
      } + [TopicHandlers(size: 100).experiment]
    }
  }
}

/// An event to one of many topics, each of them with a handler.
private struct TopicSend {
  let size: Int

  /// How many topics one after the other are a unit of measurement, so that the caches are in the
  /// state that sending leaves them in.
  private var round: Int { max(1, size / 5) }

  var experiment: Experiment {
    Experiment("topics/send", detail: "N = \(size)", sampling: .few) {
      [table] + StorageStrategy.allCases.map(measured)
    }
  }

  /// The least that is needed: looking up the topic's handler under a lock, and calling it.
  private var table: Case {
    let listeners = Listeners(size)
    let handlers = Mutex<[Int: @Sendable (Int) -> Void]>([:])
    for (topic, observer) in listeners.observers.enumerated() {
      handlers.withLock { $0[topic] = { observer.notify($0) } }
    }
    var topics = ShuffledTopics(size)
    return Case(
      "dictionary of closures", size: size, isBaseline: true, deliveries: round,
      delivered: listeners.takeReceived
    ) { iterations in
      for _ in 0..<iterations * round {
        let topic = topics.next()
        handlers.withLock { $0[topic] }?(1)
      }
    }
  }

  private func measured(_ storage: StorageStrategy) -> Case {
    let listeners = Listeners(size)
    let hub = TopicHub<Int, Tick>(storage: storage)
    let subscriptions = listeners.observers.enumerated().map { topic, observer in
      hub.subscribe(to: topic) { observer.notify($0.number) }
    }
    var topics = ShuffledTopics(size)
    return Case(
      storage.rawValue, size: size, deliveries: round, delivered: listeners.takeReceived
    ) { iterations in
      for _ in 0..<iterations * round { hub.send(1, to: topics.next()) }
      withExtendedLifetime(subscriptions) {}
    }
  }
}

/// An event to one topic with many handlers, in hubs that also deliver it elsewhere.
private struct TopicHandlers {
  let size: Int

  var experiment: Experiment {
    Experiment(
      "topics/handlers", detail: "N = \(size)",
      requirements: [
        Requirement(
          "a topic with \(size) handlers in a hub that retains, of one that does not", .atMost(3)
        ) {
          $0.ratio("last(128)", to: "topics alone")
        }
      ]
    ) {
      [
        measured("topics alone", TopicHub(), isBaseline: true),
        measured("last(128)", TopicHub(retention: .last(128))),
        measured("a handler of all topics", TopicHub(), hasObserver: true),
      ]
    }
  }

  private func measured(
    _ system: String, _ hub: TopicHub<String, Tick>, hasObserver: Bool = false,
    isBaseline: Bool = false
  ) -> Case {
    let listeners = Listeners(size)
    let observer = hasObserver ? hub.allTopics.subscribe { blackHole($0.event) } : nil
    let subscriptions = listeners.observers.map { observer in
      hub.subscribe(to: "topic") { observer.notify($0.number) }
    }
    return Case(
      system, size: size, isBaseline: isBaseline, deliveries: size,
      delivered: listeners.takeReceived
    ) { iterations in
      for _ in 0..<iterations { hub.send(1, to: "topic") }
      withExtendedLifetime((observer, subscriptions)) {}
    }
  }
}

/// What many topics with one subscriber each hold.
private enum TopicMemory {
  private static let memory = Metric("memory", unit: "MB")

  static func experiments(_ size: Int) -> [Experiment] {
    guard Heap.bytesInUse != nil else { return [] }
    return [
      experiment("handler", size, atMost: 70) { hub, topic in
        hub.subscribe(to: topic) { blackHole($0) }
      },
      experiment("sequence", size) { hub, topic in
        hub.events(for: topic)
      },
      experiment("sequence with an event", size) { hub, topic in
        let events = hub.events(for: topic)
        hub.send(1, to: topic)
        return events
      },
    ]
  }

  /// - Parameter subscribe: subscribes to a topic, and returns what keeps the subscription.
  private static func experiment<Subscriber>(
    _ kind: String, _ size: Int, atMost limit: Double = 200,
    subscribe: @escaping (TopicHub<Int, Tick>, Int) -> Subscriber
  ) -> Experiment {
    let requirement = Requirement("memory of \(size) topics with a \(kind), in MB", .atMost(limit))
    {
      $0.best("waitFree", memory)
    }
    return Experiment(
      "topics/memory/\(kind)", detail: "N = \(size)", sampling: .few,
      requirements: size == 100_000 ? [requirement] : []
    ) {
      [
        Case("waitFree", size: size, metrics: [memory], iterations: 1) { _ in
          let before = Heap.bytesInUse ?? 0
          let hub = TopicHub<Int, Tick>()
          let subscribers = (0..<size).map { subscribe(hub, $0) }
          let after = Heap.bytesInUse ?? 0
          guard hub.topicCount == size else {
            throw WrongResult("waitFree has \(hub.topicCount) topics of \(size)")
          }
          withExtendedLifetime(subscribers) {}
          return [Double(after - before) / 1e6]
        }
      ]
    }
  }
}

/// Topics in an order that no cache foresees, and that is the same in each run.
private struct ShuffledTopics {
  private let topics: ContiguousArray<Int>
  private var index = 0

  init(_ count: Int) {
    var generator = SplitMix(state: 1)
    topics = ContiguousArray((0..<count).shuffled(using: &generator))
  }

  mutating func next() -> Int {
    defer { index = index + 1 == topics.count ? 0 : index + 1 }
    return topics[index]
  }
}

/// Numbers that are the same in each run.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
