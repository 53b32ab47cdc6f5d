#if NATS
  import Testing

  /// Server processes whose broker is away for a while.
  @Suite(.timeLimit(.minutes(5)), .serialized) struct OutageTests {
    /// Runs `body` while the broker is away, with a server that has kept none of four events, and
    /// with what a client of that receives, which comes back with the first of them.
    private func withWaitingClient(
      _ body: @Sendable (Cluster, Node, Task<[Node.Seen], any Error>) async throws -> Void
    ) async throws {
      try await Cluster.with(nodes: 1) { cluster in
        for number in 1...4 { _ = try await cluster.nodes[0].publish("\(number)") }
        let late = try Node(cluster.broker, cluster.client)
        defer { late.kill() }
        try await late.wait(until: "ok")
        await cluster.broker.kill()
        try await late.wait(until: "disconnected")
        let returning = try await late.seen(after: 1)
        try await body(cluster, late, returning)
      }
    }

    /// A server that has not kept the events waits for the broker, however long that is away.
    @Test func aClientThatComesBackDuringAnOutageGetsWhatItMissed() async throws {
      try await withWaitingClient { cluster, late, returning in
        try await Task.sleep(for: .seconds(3))
        try await cluster.broker.start()
        try await late.wait(until: "ok")
        try await eventually { try await late.publish("end") == 5 }
        #expect(try await returning.value.map(\.data) == ["2", "3", "4", "end"])
      }
    }

    /// The events of a new stream have ids for which the client waits.
    @Test func aClientThatWaitsGetsTheEventsOfANewStreamOnce() async throws {
      try await withWaitingClient { cluster, late, returning in
        late.pause()
        // With the broker's store.
        await cluster.broker.remove()
        try await cluster.broker.start()
        try await cluster.nodes[0].wait(until: "ok")
        let new = ["a", "b", "c", "end"]
        for text in new { #expect(try await cluster.nodes[0].publish(text) != nil) }
        late.resume()
        let seen = try await returning.value.map(\.data)
        let notices = [#"{"reason":"history","after":1,"through":4}"#]
        #expect(seen.prefix(1) == notices[...])
        #expect(seen.filter { !$0.hasPrefix("{") } == new, "\(seen)")
      }
    }

    @Test func anUnresponsiveBrokerIsNoticed() async throws {
      try await Cluster.with { cluster in
        let stream = try await cluster.nodes[1].seen()
        await cluster.broker.pause()
        #expect(try await cluster.nodes[0].publish("unanswered") == nil)
        for node in cluster.nodes { try await node.wait(until: "disconnected") }
        await cluster.broker.resume()
        for node in cluster.nodes { try await node.wait(until: "ok") }
        _ = try await cluster.nodes[0].publish("end")
        // The broker may have stored the first event, but only once.
        let seen = try await stream.value.map(\.data)
        #expect(seen == ["end"] || seen == ["unanswered", "end"])
      }
    }
  }
#endif
