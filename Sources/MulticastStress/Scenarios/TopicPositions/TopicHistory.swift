/// What a hub of topics was sent, in the order of positions, and when each event left it.
struct TopicHistory: Sendable {
  /// An event: its topic, its sender, and its number among those of the sender.
  struct Event: Sendable, Equatable {
    let topic: Int
    let sender: Int
    let number: Int
  }

  /// What a hub retains.
  struct Limits: Sendable {
    /// The most events of each topic.
    var perTopic = Int.max
    /// The most events of all topics.
    var total = Int.max
    /// The most bytes of all topics.
    var bytes = Int.max
  }

  /// The event with position 1, and those that follow.
  let events: [Event]
  /// For each event, the position of the event with which it left; `.max`: it is retained.
  private var leftWith: [UInt64]
  /// What is retained at the end.
  private(set) var retainedBytes = 0
  private(set) var retained: [UInt64] = []

  /// - Complexity: O(events).
  init(_ events: [Event], _ limits: Limits) {
    self.events = events
    leftWith = Array(repeating: .max, count: events.count)
    var order: ArraySlice<UInt64> = []
    var topics: [Int: ArraySlice<UInt64>] = [:]
    var count = 0
    func leaves(_ number: UInt64, with newest: UInt64) {
      leftWith[Int(number) - 1] = newest
      retainedBytes -= Self.size(of: events[Int(number) - 1].number)
      count -= 1
    }
    for (index, event) in events.enumerated() {
      let number = UInt64(index + 1)
      order.append(number)
      topics[event.topic, default: []].append(number)
      count += 1
      retainedBytes += Self.size(of: event.number)
      if topics[event.topic]!.count > limits.perTopic {
        leaves(topics[event.topic]!.removeFirst(), with: number)
      }
      while count > limits.total || retainedBytes > limits.bytes {
        let oldest = order.removeFirst()
        let topic = events[Int(oldest) - 1].topic
        guard topics[topic]!.first == oldest else { continue }  // It has left before.
        topics[topic]!.removeFirst()
        leaves(oldest, with: number)
      }
    }
    retained = topics.values.joined().sorted()
  }

  /// The size of the event with this number of its sender, in bytes.
  static func size(of number: Int) -> Int { 1 + number % 7 }

  /// The position of the newest event.
  var newest: UInt64 { UInt64(events.count) }

  /// The event at a position; `nil` if there is none.
  func event(at position: UInt64) -> Event? {
    (1...newest).contains(position) ? events[Int(position) - 1] : nil
  }

  /// Whether an event had left when the newest event had this position.
  func hasLeft(_ position: UInt64, by newest: UInt64) -> Bool {
    leftWith[Int(position) - 1] <= newest
  }
}
