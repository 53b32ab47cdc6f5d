internal import BenchmarkHarness
internal import Multicast

extension Workload {
  /// `TopicHub` with very many patterns.
  static var patterns: Workload {
    Workload("patterns", summary: "a TopicHub with N patterns: one send, and a subscription") {
      settings in
      let sizes = settings.sizes(or: [8, 128, 8192, 100_000])
      return [
        PatternSend.one(sizes), PatternSend.each(sizes), PatternSend.flooding(sizes),
        PatternChange.experiment(sizes),
      ]
    }
  }
}

/// An event to a topic without subscribers of its own that matches one pattern of many.
private enum PatternSend {
  /// How many topics a loop over different ones sends to.
  private static var round: Int { 1000 }

  /// Always to the same topic: the cost of matching, with what it reads in the caches.
  static func one(_ sizes: [Int]) -> Experiment {
    let names = { (number: Int) in "building.\(number).fire" }
    return Experiment(
      "patterns/send", sampling: .few,
      requirements: sizes.map { size in
        Requirement("send to a topic that matches 1 of \(size) patterns, in ns", .atMost(300)) {
          $0.best("patterns", size: size)
        }
      }
    ) {
      [topic(names(0))]
        + sizes.map { size in
          measured("patterns", size, (0..<size).map { "building.\($0).*" }, [names(size / 2)])
        }
    }
  }

  /// To a different topic each time, which matches a different pattern.
  static func each(_ sizes: [Int]) -> Experiment {
    Experiment("patterns/send/each", sampling: .few) {
      sizes.map { size in
        measured(
          "patterns", size, (0..<size).map { "building.\($0).*" },
          topics(size) { "building.\($0).fire" })
      }
    }
  }

  /// Patterns and topics whose tokens have one hash value in Java and others, with usual ones
  /// beside them.
  static func flooding(_ sizes: [Int]) -> Experiment {
    Experiment(
      "patterns/send/flooding", sampling: .few,
      requirements: sizes.max().map { size in
        [
          Requirement("send to a topic that was made to flood, of a usual one", .atMost(1.3)) {
            guard let flood = $0.best("flooding", size: size),
              let usual = $0.best("usual", size: size)
            else { return nil }
            return flood / usual
          }
        ]
      } ?? []
    ) {
      sizes.flatMap { size in
        [("usual", usual), ("flooding", flooding)].map { name, token in
          measured(
            name, size, (0..<size).map { "\(token($0)).*" },
            topics(size) { "\(token($0)).fire" })
        }
      }
    }
  }

  /// Pairs of characters with equal hash values in Java, as many as a number has bits.
  private static func flooding(_ number: Int) -> String {
    (0..<17).map { number >> $0 & 1 == 0 ? "Aa" : "BB" }.joined()
  }

  private static func usual(_ number: Int) -> String {
    let digits = String(number, radix: 2)
    return String(repeating: "0", count: 34 - digits.count) + digits
  }

  private static func topics(_ size: Int, _ name: (Int) -> String) -> [String] {
    var generator = SplitMix(state: 1)
    return (0..<round).map { _ in name(Int.random(in: 0..<size, using: &generator)) }
  }

  /// The same event to a subscriber of the topic itself.
  private static func topic(_ topic: String) -> Case {
    let listeners = Listeners(1)
    let hub = TopicHub<String, Tick>()
    let subscription = hub.subscribe(to: topic) { [observer = listeners.observers[0]] event in
      observer.notify(event.number)
    }
    return Case(
      "own topic", isBaseline: true, deliveries: 1, delivered: listeners.takeReceived
    ) { iterations in
      for _ in 0..<iterations { hub.send(1, to: topic) }
      withExtendedLifetime(subscription) {}
    }
  }

  private static func measured(
    _ system: String, _ size: Int, _ patterns: [String], _ topics: [String]
  ) -> Case {
    let listeners = Listeners(1)
    let hub = TopicHub<String, Tick>()
    let subscriptions = patterns.map { pattern in
      hub.subscribe(matching: TopicPattern(pattern)!) {
        [observer = listeners.observers[0]] element in observer.notify(element.event.number)
      }
    }
    return Case(
      system, size: size, deliveries: topics.count, delivered: listeners.takeReceived
    ) { iterations in
      for _ in 0..<iterations {
        for topic in topics { hub.send(1, to: topic) }
      }
      withExtendedLifetime(subscriptions) {}
    }
  }
}

/// One more pattern, which ends again.
private enum PatternChange {
  static func experiment(_ sizes: [Int]) -> Experiment {
    Experiment("patterns/subscribe", sampling: .few) {
      sizes.map { size in
        let hub = TopicHub<String, Tick>()
        let subscriptions = (0..<size).map { number in
          hub.subscribe(matching: TopicPattern("building.\(number).*")!) { blackHole($0.event) }
        }
        return Case("subscribe and cancel", size: size, metrics: [.time]) { iterations in
          let start = MonotonicClock.nanoseconds
          for number in 0..<iterations {
            hub.subscribe(matching: TopicPattern("floor.\(number).*")!) { blackHole($0.event) }
              .cancel()
          }
          let elapsed = MonotonicClock.nanoseconds - start
          withExtendedLifetime(subscriptions) {}
          return [Double(elapsed) / Double(iterations)]
        }
      }
    }
  }
}
