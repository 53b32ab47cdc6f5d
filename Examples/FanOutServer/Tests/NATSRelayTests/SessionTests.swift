#if NATS
  @testable import FanOutCore
  import Multicast
  import NIOCore
  import Testing

  @testable import NATSRelay

  /// One connection to a real broker.
  @Suite(.timeLimit(.minutes(5))) struct SessionTests {
    private func withSession(_ body: (Session, Broker) async throws -> Void) async throws {
      let broker = try Broker()
      try await broker.start()
      let settings = try RelaySettings(urls: Secret(broker.url))
      var session: Session?
      try await eventually {
        session = try? Session(settings.urls[0], prefix: settings.prefix)
        return session != nil
      }
      do {
        let session = try #require(session)
        _ = try session.stream()
        try await body(session, broker)
        session.close()
      } catch {
        await broker.remove()
        throw error
      }
      await broker.remove()
    }

    private func message(_ text: String) throws -> Message {
      try #require(Message(ByteBuffer(string: text)))
    }

    @Test func anEventThatIsSentAgainIsNotStoredTwice() async throws {
      let topic = try Topic("news", limit: 9)
      try await withSession { session, _ in
        let ids = try ["a", "b", "a"].map { key in
          try session.publish(message(key), to: topic, key: key, within: 10_000)
        }
        #expect(ids.map(\.id) == [1, 2, 1])
        #expect(ids.map(\.isDuplicate) == [false, false, true])
        #expect(try session.stream().last == 2)
      }
    }

    @Test func anEventWithoutAnAnswerIsSentAgainAndStoredOnce() async throws {
      let topic = try Topic("news", limit: 9)
      try await withSession { session, broker in
        await broker.pause()
        let error = try #require(throws: BrokerError.self) {
          try session.publish(message("1"), to: topic, key: "1", within: 50)
        }
        #expect(!error.isRefusal)
        await broker.resume()
        #expect(try session.publish(message("1"), to: topic, key: "1", within: 10_000).id == 1)
        #expect(try session.publish(message("2"), to: topic, key: "2", within: 10_000).id == 2)
      }
    }

    @Test func aBlockedBrokerDoesNotBlockPublishing() async throws {
      let topic = try Topic("news", limit: 9)
      let long = try message(String(repeating: "x", count: 900_000))
      try await withSession { session, broker in
        await broker.pause()
        // More than the kernel's buffers hold.
        for number in 0..<16 {
          #expect(throws: BrokerError.self) {
            try session.publish(long, to: topic, key: "\(number)", within: 50)
          }
        }
      }
    }

    @Test func theEventsOfOneTopicAreFetched() async throws {
      let names = ["news", "news.sport", "a-b_c~d"]
      let topics = try names.map { try Topic($0, limit: 99) }
      try await withSession { session, _ in
        for number in 0..<9 {
          let topic = topics[number % 3]
          _ = try session.publish(message(topic.name), to: topic, key: "\(number)", within: 10_000)
        }
        let some = try session.page(of: [topics[0].name], after: 1, through: 6)
        #expect(some?.elements.map(\.number) == [4])
        #expect(some?.through == 6)
        let all = try session.page(of: [topics[2].name], after: 0, through: 9)
        #expect(all?.elements.map(\.number) == [3, 6, 9])
        #expect(all?.elements.allSatisfy { $0.event.topic == topics[2] } == true)
        let none = try session.page(of: ["other"], after: 0, through: 9)
        #expect(none?.elements.count == 0)
      }
    }

    /// Each event once, in order, also if several patterns match.
    @Test(
      arguments: [
        (["news", "a-b_c~d"], [1, 3, 4, 6, 7, 9]), (["news.*", "news"], [1, 2, 4, 5, 7, 8]),
        (["*"], [1, 3, 4, 6, 7, 9]), ([">"], Array(1...9)), (["news.>", "other"], [2, 5, 8]),
        (["*", ">", "news", "news.*"], Array(1...9)), (["*.sport", "x.>"], [2, 5, 8]),
      ] as [([String], [UInt64])])
    func theEventsOfSeveralTopicsAndPatternsAreFetched(
      _ wanted: [String], _ numbers: [UInt64]
    ) async throws {
      let topics = try ["news", "news.sport", "a-b_c~d"].map { try Topic($0, limit: 99) }
      try await withSession { session, _ in
        for number in 0..<9 {
          let topic = topics[number % 3]
          _ = try session.publish(message(topic.name), to: topic, key: "\(number)", within: 10_000)
        }
        let all = try #require(try session.page(of: wanted, after: 0, through: 9))
        #expect(all.elements.map(\.number) == numbers && all.through == 9)
        #expect(all.elements.allSatisfy { $0.topic == $0.event.topic.name })
        let some = try session.page(of: wanted, after: 3, through: 7)
        #expect(some?.elements.map(\.number) == numbers.filter { (4...7).contains($0) })
      }
    }

    @Test func theTypeAndTheRetryOfAnEventAreKept() async throws {
      let topic = try Topic("news", limit: 9)
      try await withSession { session, _ in
        let type = try #require(EventType("price"))
        let data = ByteBuffer(string: "x")
        let message = try #require(Message(data, type: type, retryMilliseconds: 50))
        _ = try session.publish(message, to: topic, key: "1", within: 10_000)
        let typed = try #require(Message(data, type: type))
        _ = try session.publish(typed, to: topic, key: "2", within: 10_000)
        let text = "id: 1\nevent: price\nretry: 50\ndata: x\n\n"
        let page = try #require(try session.page(of: ["news"], after: 0, through: 2))
        #expect(page.elements.map { String(buffer: $0.event.frame) }.first?.contains(text) == true)
        #expect(!String(buffer: page.elements[1].event.frame).contains("retry"))
        try session.subscribe(after: 0)
        var events: [Event] = []
        while events.count < 2 { events += try session.read().compactMap(\.event) }
        #expect(String(buffer: events[0].frame).contains(text))
      }
    }

    @Test func manyEventsAreFetchedPageByPage() async throws {
      try await withSession { session, broker in
        try broker.publish(count: 600)
        try await eventually { try session.stream().last == 600 }
        var ids: [EventID] = []
        var after: EventID = 1
        while after < 599 {
          let page = try #require(try session.page(of: ["news"], after: after, through: 599))
          #expect(page.elements.count <= Limits.pageEvents)
          #expect(page.elements.last?.number == page.through)
          ids += page.elements.map(\.number)
          after = page.through
        }
        #expect(ids == Array(2...599))
      }
    }

    /// Another one has other events with the same ids.
    @Test func aPageIsOfTheStreamOfItsIDs() async throws {
      try await withSession { session, broker in
        func publish() async throws {
          try broker.publish(count: 9)
          try await eventually { try session.stream().last == 9 }
        }
        try await publish()
        let created = try session.stream().created
        func page(through last: EventID) throws -> [EventID]? {
          try session.page(of: ["news"], after: 1, through: last, created: created)?
            .elements.map(\.number)
        }
        #expect(try page(through: 9) == Array(2...9))
        // It has lost its end.
        #expect(throws: BrokerError.self) { try page(through: 10) }
        try broker.replaceStream(duplicateSeconds: 10)
        try await publish()
        #expect(throws: BrokerError.self) { try page(through: 9) }
      }
    }

    /// A message that left was perhaps one of the topic.
    @Test func aPageEndsBeforeAnEventThatLeft() async throws {
      try await withSession { session, broker in
        try broker.publish(count: 9)
        try await eventually { try session.stream().last == 9 }
        for number in [4, 7, 8] as [EventID] { try broker.delete(number) }
        for names in [["news"], ["quiet"], [">"]] {
          let before = try session.page(of: names, after: 1, through: 9)
          #expect(before?.through == 3)
          let missing = try session.page(of: names, after: 3, through: 9)
          #expect(missing == nil)
          let between = try session.page(of: names, after: 4, through: 6)
          #expect(between?.through == 6)
          #expect(between?.elements.map(\.number) == (names == ["quiet"] ? [] : [5, 6]))
          let behind = try session.page(of: names, after: 8, through: 9)
          #expect(behind?.through == 9)
        }
      }
    }

    /// Or the relay would take a consumer that has nothing to send for a lost one.
    @Test func theFirstMessageAfterOthersIsOneThatTheStreamHas() async throws {
      try await withSession { session, broker in
        try broker.publish(count: 9)
        try await eventually { try session.stream().last == 9 }
        for number in [4, 8, 9] as [EventID] { try broker.delete(number) }
        let first = try [0, 3, 6, 7, 9].map { try session.first(after: $0) }
        #expect(first == [1, 5, 7, nil, nil])
        #expect(try session.stream().last == 9)
      }
    }

    /// Replicas answer too, and may not have the last messages yet.
    @Test(arguments: ["news", ">"]) func aPageHasWhatAReplicaDoesNotHave(_ name: String)
      async throws
    {
      try await withSession { session, broker in
        try broker.publish(count: 9)
        try await eventually { try session.stream().last == 9 }
        try await broker.addEmptyMirror(count: 9)
        var isBehind = false
        var isComplete = false
        // Either of both answers.
        try await eventually {
          do {
            let page = try #require(try session.page(of: [name, "quiet"], after: 1, through: 8))
            #expect(
              page.elements.map(\.number).filter { $0 <= page.through } == Array(2...page.through))
            isBehind = isBehind || page.through < 8
            isComplete = isComplete || page.through == 8
          } catch is BrokerError {
            isBehind = true
          }
          return isBehind && isComplete
        }
      }
    }

    @Test func aStreamWithOtherSubjectsIsRefused() async throws {
      try await withSession { session, broker in
        try broker.addSubject("other.>")
        let error = try #require(throws: BrokerError.self) { try session.stream() }
        #expect(error.description == "the stream 'fanout' has other subjects than 'fanout.>'")
      }
    }

    /// Otherwise the stream could store an event twice that a server sends again.
    @Test func aStreamWithAShortDuplicateWindowIsRefused() async throws {
      try await withSession { session, broker in
        try broker.replaceStream(duplicateSeconds: 9)
        let error = try #require(throws: BrokerError.self) { try session.stream() }
        #expect(error.description == "the duplicate window of the stream 'fanout' is below 10 s")
        #expect(error.isOfStream)
        try broker.replaceStream(duplicateSeconds: 10)
        _ = try session.stream()
      }
    }

    @Test func whatTheBrokerRefusesIsAnError() async throws {
      let topic = try Topic("news", limit: 9)
      try await withSession { session, _ in
        let long = try message(String(repeating: "x", count: 2 << 20))
        let error = try #require(throws: BrokerError.self) {
          try session.publish(long, to: topic, key: "long", within: 10_000)
        }
        #expect(error.isRefusal)
      }
    }
  }

  extension Session {
    /// As ``page(of:after:through:created:)``, of the stream that there is now.
    fileprivate func page(
      of names: [String], after id: EventID, through last: EventID
    ) throws -> ExternalPage<Event>? {
      try page(of: names, after: id, through: last, created: stream().created)
    }
  }
#endif
