#if NATS
  import Synchronization
  import Testing

  /// Server processes with a real broker.
  @Suite(.timeLimit(.minutes(5)), .serialized) struct ClusterTests {
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

    @Test func aClientContinuesAtAnotherServer() async throws {
      try await Cluster.with { cluster in
        for number in 1...5 {
          _ = try await cluster.nodes[0].publish("\(number)")
          _ = try await cluster.nodes[1].publish("x", to: "a.b-c_d~E.9")
        }
        let last = try #require(try await cluster.nodes[2].publish("6"))
        for node in cluster.nodes {
          try await node.wait(untilPublished: 11)
        }
        // This server has not kept earlier events.
        let late = try Node(cluster.broker, cluster.client)
        defer { late.kill() }
        try await late.wait(until: "ok")
        for node in cluster.nodes + [late] {
          // The id of the third event of the topic.
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

    /// Of several topics and patterns too: a server that has kept nothing fetches them.
    @Test(arguments: ["topic=news&topic=a.b", "topic=news&topic=a.*", "topic=%3E"])
    func aStreamOfSeveralTopicsContinuesAtAnotherServer(_ query: String) async throws {
      try await Cluster.with(nodes: 1) { cluster in
        let topics = ["news", "a.b"]
        for number in 1...10 {
          _ = try await cluster.nodes[0].publish("\(number)", to: topics[number % 2])
        }
        try await cluster.nodes[0].wait(untilPublished: 10)
        let late = try Node(cluster.broker, cluster.client)
        defer { late.kill() }
        try await late.wait(until: "ok")
        for node in cluster.nodes + [late] {
          let stream = try await node.seen(query: query, after: 3)
          _ = try await node.publish("end")
          let seen = try await stream.value.dropLast()
          let expected = (4...10).map { number in
            Node.Seen(
              id: UInt64(number),
              data: #"{"topic":"\#(topics[number % 2])","data":"\#(number)"}"#)
          }
          #expect(seen.prefix(7) == expected[...])
        }
      }
    }

    @Test func aRepeatAtAnotherServerIsNotPublishedAgain() async throws {
      try await Cluster.with(nodes: 2) { cluster in
        let path = "/topics/news?id=once"
        let first = try #require(await cluster.nodes[0].request(path, publish: "1"))
        #expect(first == (200, "{\"id\":1,\"subscribers\":0}\n"))
        for node in cluster.nodes.reversed() {
          let again = try #require(await node.request(path, publish: "1"))
          #expect(again == (200, "{\"id\":1,\"subscribers\":0,\"repeated\":true}\n"))
        }
        // A key belongs to its topic.
        let other = try #require(
          await cluster.nodes[1].request("/topics/other?id=once", publish: "1"))
        #expect(other == (200, "{\"id\":2,\"subscribers\":0}\n"))
      }
    }

    @Test func aServerWithoutItsBrokerServesItsClients() async throws {
      try await Cluster.with(nodes: 1, isBrokerThere: false) { cluster in
        let node = cluster.nodes[0]
        let stream = try await node.seen()
        #expect(try await node.publish("refused") == nil)
        #expect(await node.request("/metrics")?.1.contains("fanout_log_connected 0\n") == true)
        try await cluster.broker.start()
        try await node.wait(until: "ok")
        #expect(await node.request("/metrics")?.1.contains("fanout_log_connected 1\n") == true)
        _ = try await node.publish("end")
        #expect(try await stream.value == [Node.Seen(id: 1, data: "end")])
      }
    }

    @Test func aClientThatIsAheadGetsNothingTwice() async throws {
      try await Cluster.with(nodes: 2) { cluster in
        let behind = cluster.nodes[0]
        for number in 1...2 { _ = try await behind.publish("\(number)") }
        try await behind.wait(untilPublished: 2)
        let stranger = try await behind.seen(after: 1000)
        await cluster.broker.kill()
        try await behind.wait(until: "disconnected")
        // Unknown for now: event 4 will exist, event 900 will not.
        let ahead = try await behind.seen(after: 4)
        let wrong = try await behind.seen(after: 900)
        behind.pause()
        try await cluster.broker.start()
        try await cluster.nodes[1].wait(until: "ok")
        for number in 3...4 { _ = try await cluster.nodes[1].publish("\(number)") }
        behind.resume()
        try await behind.wait(until: "ok")
        _ = try await behind.publish("5")
        _ = try await behind.publish("end")
        #expect(try await ahead.value.map(\.data) == ["5", "end"])
        let rest = ["3", "4", "5", "end"]
        #expect(try await stranger.value.map(\.data) == [missed(after: 1000, through: 2)] + rest)
        #expect(try await wrong.value.map(\.data) == [missed(after: 900, through: 2)] + rest)
      }
    }

    @Test func clientsGetWhatWasAcknowledgedBeforeTheirServerEnds() async throws {
      try await Cluster.with { cluster in
        let ending = cluster.nodes[0]
        let stream = try await ending.seen()
        let acknowledged = Acknowledged()
        try await withThrowingTaskGroup { group in
          for publisher in 0..<8 {
            group.addTask {
              var number = 0
              // Until the server refuses, or does not respond.
              while let answer = await ending.request(
                "/topics/news", publish: "\(publisher)/\(number)"), answer.0 == 200
              {
                let id: UInt64 = try #require(
                  UInt64(answer.1.drop { !$0.isNumber }.prefix { $0.isNumber }))
                acknowledged.append(Node.Seen(id: id, data: "\(publisher)/\(number)"))
                number += 1
              }
            }
          }
          try await eventually { acknowledged.events.count > 100 }
          ending.terminate()
          try await group.waitForAll()
        }
        let seen = try await stream.value
        #expect(Set(acknowledged.events).subtracting(seen).isEmpty)
      }
    }

    /// - Parameter deleted: the event to delete, of five; `nil`: all of them.
    @Test(arguments: [nil, 4] as [UInt64?])
    func eventsThatLeaveTheStreamWhileAServerIsAwayAreReported(_ deleted: UInt64?) async throws {
      try await Cluster.with(nodes: 2) { cluster in
        let away = cluster.nodes[0]
        let stream = try await away.seen()
        for number in 1...3 { _ = try await cluster.nodes[1].publish("\(number)") }
        try await away.wait(untilPublished: 3)
        await cluster.broker.kill()
        try await away.wait(until: "disconnected")
        let ahead = try await away.seen(after: 4)
        away.pause()
        try await cluster.broker.start()
        try await cluster.nodes[1].wait(until: "ok")
        for number in 4...5 { _ = try await cluster.nodes[1].publish("\(number)") }
        try cluster.broker.delete(deleted)
        away.resume()
        try await away.wait(until: "ok")
        try await eventually { try await cluster.nodes[1].publish("end") != nil }
        let isPart = deleted != nil
        let rest = isPart ? [missed(after: 3, through: 4), "5"] : [missed(after: 3, through: 5)]
        #expect(try await stream.value.map(\.data) == ["1", "2", "3"] + rest + ["end"])
        let ofAhead = isPart ? "5" : missed(after: 4, through: 5)
        #expect(try await ahead.value.map(\.data) == [ofAhead, "end"])
        // Reconnecting clients get what is missing in the stream as missed, too.
        let late = try await away.seen(after: 2)
        let ofLate = isPart ? ["3"] + rest : [missed(after: 2, through: 5)]
        #expect(try await late.value.map(\.data) == ofLate + ["end"])
      }
    }

    @Test func aClientBeforeTheBrokerGetsWhatItMissed() async throws {
      try await Cluster.with(nodes: 1) { cluster in
        for number in 1...4 { _ = try await cluster.nodes[0].publish("\(number)") }
        await cluster.broker.kill()
        let late = try Node(cluster.broker, cluster.client)
        defer { late.kill() }
        try await late.wait(until: "disconnected")
        let returning = try await late.seen(after: 2)
        let upToDate = try await late.seen(after: 4)
        let stranger = try await late.seen(after: 1000)
        let new = try await late.seen()
        try await cluster.broker.start()
        try await late.wait(until: "ok")
        try await eventually { try await late.publish("end") == 5 }
        #expect(try await returning.value.map(\.data) == ["3", "4", "end"])
        #expect(try await upToDate.value.map(\.data) == ["end"])
        let all = missed(after: 1000, through: 4)
        #expect(try await stranger.value.map(\.data) == [all, "end"])
        #expect(try await new.value.map(\.data) == ["end"])
      }
    }

    @Test func clientsThatComeBackDoNotDelayOthers() async throws {
      try await Cluster.with(nodes: 1) { cluster in
        try cluster.broker.publish(count: 3000)
        try await cluster.nodes[0].wait(untilPublished: 3000)
        // This server has kept no events, so it fetches each of them.
        let late = try Node(cluster.broker, cluster.client)
        defer { late.kill() }
        try await late.wait(until: "ok")
        func sent() async throws -> Int {
          let text = try #require(await late.request("/metrics")?.1)
          let line = try #require(
            text.split(separator: "\n").first { $0.hasPrefix("fanout_sent_total ") })
          return try #require(Int(line.drop { $0 != " " }.dropFirst()))
        }
        // On a loaded machine the server may be done before this test goes on, but not each time.
        var isEarly = false
        for _ in 1...5 where !isEarly {
          let before = try await sent()
          let live = try await late.seen(of: "live")
          // All at once, so that the first ones have not got everything before the last is there.
          let returning = try await withThrowingTaskGroup { group in
            for _ in 0..<40 { group.addTask { try await late.seen(after: 1) } }
            return try await group.reduce(into: []) { $0.append($1) }
          }
          _ = try #require(try await late.publish("end", to: "live"))
          #expect(try await live.value.map(\.data) == ["end"])
          // The fetches for them are not half done yet.
          isEarly = try await sent() - before < 40 * 2999 / 2
          for client in returning { client.cancel() }
        }
        #expect(isEarly)
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

    @Test func anyAddressOfAClusterIsSufficient() async throws {
      try await Cluster.with(nodes: 0) { cluster in
        let unused = "nats://127.0.0.1:\(try freePort())"
        let urls = [unused, cluster.broker.url, unused].joined(separator: ",")
        let node = try Node(cluster.broker, cluster.client, urls: urls)
        defer { node.kill() }
        try await node.wait(until: "ok")
        #expect(try await node.publish("1") == 1)
      }
    }

    @Test func aClientThatHasSeenNothingYetGetsWhatItMissed() async throws {
      try await Cluster.with(nodes: 1) { cluster in
        for number in 1...3 { _ = try await cluster.nodes[0].publish("\(number)") }
        await cluster.broker.kill()
        let late = try Node(cluster.broker, cluster.client)
        defer { late.kill() }
        try await late.wait(until: "disconnected")
        let returning = try await late.seen(after: 0)
        try await cluster.broker.start()
        try await late.wait(until: "ok")
        try await eventually { try await late.publish("end") == 4 }
        #expect(try await returning.value.map(\.data) == ["1", "2", "3", "end"])
      }
    }

    @Test func aBrokerThatComesBackEmptyBeginsAgain() async throws {
      try await Cluster.with(nodes: 2) { cluster in
        let stream = try await cluster.nodes[0].seen()
        for number in 1...3 { _ = try await cluster.nodes[1].publish("\(number)") }
        try await cluster.nodes[0].wait(untilPublished: 3)
        await cluster.broker.remove()
        for node in cluster.nodes { try await node.wait(until: "disconnected") }
        let ahead = try await cluster.nodes[0].seen(after: 9)
        try await cluster.broker.start()
        for node in cluster.nodes { try await node.wait(until: "ok") }
        #expect(try await cluster.nodes[1].publish("end") == 1)
        // Ids begin again, so a higher id is one of the old stream.
        #expect(try await ahead.value.map(\.data) == [missed(after: 9, through: 0), "end"])
        let seen = try await stream.value
        #expect(seen.map(\.data) == ["1", "2", "3", missed(after: 3, through: 0), "end"])
        #expect(seen.map(\.id) == [1, 2, 3, 0, 1])
      }
    }

    @Test func aBrokerRestartDropsNothing() async throws {
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
                  // Shorter than Retry-After, to publish while the broker restarts.
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
              #expect(await node.request("/topics/news", publish: "refused")?.0 == 503)
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

  /// The data of a notice of missing events.
  private func missed(after id: UInt64, through last: UInt64) -> String {
    #"{"reason":"history","after":\#(id),"through":\#(last)}"#
  }

  /// The acknowledged events.
  private final class Acknowledged: Sendable {
    private let list = Mutex<[Node.Seen]>([])
    // Relaxed: the flag orders no other access.
    private let completed = Atomic(false)

    var events: [Node.Seen] { list.withLock { $0 } }

    /// Whether publishers should stop.
    var isComplete: Bool { completed.load(ordering: .relaxed) }

    func append(_ event: Node.Seen) { list.withLock { $0.append(event) } }

    func complete() { completed.store(true, ordering: .relaxed) }
  }
#endif
