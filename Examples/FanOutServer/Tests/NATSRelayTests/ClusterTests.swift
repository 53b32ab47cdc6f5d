#if NATS
  import Synchronization
  import Testing

  /// Servers as processes of their own, with a broker that is real.
  @Suite(.timeLimit(.minutes(2)), .serialized) struct ClusterTests {
    @Test func allServersHaveOneSequenceOfEvents() async throws {
      try await Cluster.with { cluster in
        var streams: [Task<[Node.Seen], any Error>] = []
        for node in cluster.nodes { streams.append(try await node.seen()) }
        let published = try await withThrowingTaskGroup(of: Node.Seen.self) { group in
          for (index, node) in cluster.nodes.enumerated() {
            for number in 0..<50 {
              group.addTask {
                let data = "\(index)/\(number)"
                let id: UInt64 = try #require(try await node.publish(data))
                return Node.Seen(id: id, data: data)
              }
            }
          }
          return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        _ = try await cluster.nodes[1].publish("end")
        for stream in streams {
          let seen = try await stream.value
          #expect(seen.compactMap(\.id) == Array(1...151))
          #expect(Set(seen.dropLast()) == published)
        }
      }
    }

    @Test func aClientGoesOnAtAnotherServer() async throws {
      try await Cluster.with { cluster in
        for number in 1...5 {
          _ = try await cluster.nodes[0].publish("\(number)")
          _ = try await cluster.nodes[1].publish("x", to: "a.b-c_d~E.9")
        }
        let last = try #require(try await cluster.nodes[2].publish("6"))
        for node in cluster.nodes {
          try await eventually {
            await node.request("/metrics")?.1.contains("fanout_published_total 11\n") == true
          }
        }
        // This one has kept nothing of what was before it.
        let late = try Node(cluster.broker, cluster.client)
        defer { late.kill() }
        try await late.wait(until: "ok")
        for node in cluster.nodes + [late] {
          // The third event of the topic, by its number among all.
          let stream = try await node.seen(after: 5)
          _ = try await node.publish("end")
          let seen = try await stream.value
          #expect(seen.prefix(3).map(\.data) == ["4", "5", "6"])
          #expect(seen.prefix(3).map(\.id) == [7, 9, last])
          let other = try await node.seen(of: "a.b-c_d~E.9", after: 8)
          _ = try await node.publish("end", to: "a.b-c_d~E.9")
          #expect(try await other.value.first == Node.Seen(id: 10, data: "x"))
        }
      }
    }

    @Test func aServerWithoutItsBrokerServesItsClients() async throws {
      try await Cluster.with(nodes: 1, isBrokerThere: false) { cluster in
        let node = cluster.nodes[0]
        let stream = try await node.seen()
        #expect(try await node.publish("nobody takes this") == nil)
        #expect(await node.request("/metrics")?.1.contains("fanout_log_connected 0\n") == true)
        try await cluster.broker.start()
        try await node.wait(until: "ok")
        #expect(await node.request("/metrics")?.1.contains("fanout_log_connected 1\n") == true)
        _ = try await node.publish("end")
        #expect(try await stream.value == [Node.Seen(id: 1, data: "end")])
      }
    }

    @Test func aClientThatIsAheadGetsNothingTwice() async throws {
      try await Cluster.with(nodes: 1) { cluster in
        let node = cluster.nodes[0]
        for number in 1...2 { _ = try await node.publish("\(number)") }
        try await eventually {
          await node.request("/metrics")?.1.contains("fanout_published_total 2\n") == true
        }
        let stranger = try await node.seen(after: 1000)
        await cluster.broker.kill()
        try await node.wait(until: "disconnected")
        let ahead = try await node.seen(after: 4)
        try await cluster.broker.start()
        try await node.wait(until: "ok")
        for number in 3...5 { _ = try await node.publish("\(number)") }
        _ = try await node.publish("end")
        #expect(try await ahead.value.map(\.data) == ["5", "end"])
        let missed = #"{"reason":"history","after":1000,"through":2}"#
        #expect(try await stranger.value.map(\.data) == [missed, "3", "4", "5", "end"])
      }
    }

    @Test func anEventThatIsTooLongForTheBrokerIsRefusedForGood() async throws {
      try await Cluster.with(nodes: 1) { cluster in
        let long = String(repeating: "x", count: 2 << 20)
        let answer = try #require(await cluster.nodes[0].request("/topics/news", publish: long))
        #expect(answer.0 == 413)
        #expect(answer.1.contains("the broker refuses the event"))
        #expect(try await cluster.nodes[0].publish("short") == 1)
      }
    }

    @Test func aBrokerThatFallsSilentIsNoticed() async throws {
      try await Cluster.with { cluster in
        let stream = try await cluster.nodes[1].seen()
        await cluster.broker.pause()
        #expect(try await cluster.nodes[0].publish("nobody answers") == nil)
        for node in cluster.nodes { try await node.wait(until: "disconnected") }
        await cluster.broker.resume()
        for node in cluster.nodes { try await node.wait(until: "ok") }
        _ = try await cluster.nodes[0].publish("end")
        // The broker may have taken in the first one, or not. If so, then once.
        let seen = try await stream.value.map(\.data)
        #expect(seen == ["end"] || seen == ["nobody answers", "end"])
      }
    }

    @Test func aBrokerThatComesBackEmptyBeginsAgain() async throws {
      try await Cluster.with(nodes: 2) { cluster in
        let stream = try await cluster.nodes[0].seen()
        for number in 1...3 { _ = try await cluster.nodes[1].publish("\(number)") }
        try await eventually {
          await cluster.nodes[0].request("/metrics")?.1
            .contains("fanout_published_total 3\n") == true
        }
        await cluster.broker.remove()
        for node in cluster.nodes { try await node.wait(until: "disconnected") }
        try await cluster.broker.start()
        for node in cluster.nodes { try await node.wait(until: "ok") }
        #expect(try await cluster.nodes[1].publish("end") == 1)
        let seen = try await stream.value
        #expect(seen.map(\.data) == ["1", "2", "3", "end"])
        #expect(seen.map(\.id) == [1, 2, 3, 1])
      }
    }

    @Test func aBrokerThatDiesAndComesBackLosesNothing() async throws {
      try await Cluster.with { cluster in
        var streams: [Task<[Node.Seen], any Error>] = []
        for node in cluster.nodes { streams.append(try await node.seen()) }
        let acknowledged = Acknowledged()
        try await withThrowingTaskGroup { group in
          for (index, node) in cluster.nodes.enumerated() {
            group.addTask {
              var number = 0
              while !acknowledged.isComplete {
                number += 1
                let data = "\(index)/\(number)"
                guard let id = try await node.publish(data) else {
                  // The publisher waits, as it is told to; less, to be in the way.
                  try? await Task.sleep(for: .milliseconds(20))
                  continue
                }
                acknowledged.append(Node.Seen(id: id, data: data))
              }
            }
          }
          for _ in 1...2 {
            let count = acknowledged.events.count
            try await eventually { acknowledged.events.count > count + 50 }
            await cluster.broker.kill()
            for node in cluster.nodes {
              try await node.wait(until: "disconnected")
              #expect(await node.request("/health")?.1.contains("\"streams\":1") == true)
              #expect(await node.request("/topics/news", publish: "lost")?.0 == 503)
            }
            try await cluster.broker.start()
            for node in cluster.nodes { try await node.wait(until: "ok") }
          }
          let count = acknowledged.events.count
          try await eventually { acknowledged.events.count > count + 50 }
          acknowledged.complete()
        }
        _ = try await cluster.nodes[0].publish("end")
        let seen = try await streams[0].value
        let ids = seen.map(\.id)
        #expect(ids == (1...UInt64(seen.count)).map(Optional.some), "each once and in order")
        for stream in streams.dropFirst() { #expect(try await stream.value == seen) }
        let taken = acknowledged.events
        #expect(Set(taken).count == taken.count)
        #expect(Set(taken).isSubset(of: seen))
      }
    }
  }

  /// What the servers have said that they took in.
  private final class Acknowledged: Sendable {
    private let list = Mutex<[Node.Seen]>([])
    // Relaxed: nothing else is read because of it.
    private let completed = Atomic(false)

    var events: [Node.Seen] { list.withLock { $0 } }

    /// Whether nobody is to publish any more.
    var isComplete: Bool { completed.load(ordering: .relaxed) }

    func append(_ event: Node.Seen) { list.withLock { $0.append(event) } }

    func complete() { completed.store(true, ordering: .relaxed) }
  }
#endif
