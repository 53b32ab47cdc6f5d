import Dispatch
import InMemoryTracing
import Multicast
import MulticastTracing
import Synchronization
import Testing
import Tracing

private actor Home {
  private(set) var received: [Int] = []
  func follow(_ hub: EventHub<Int>, _ option: SubscriberOption<Int>) -> EventSubscription {
    hub.subscribe(options: [option]) { self.received.append($0) }
  }
}

private struct Failure: Error {}

@Suite("A delivery is a span below that of its sender")
struct TracingTests {
  private let tracer = InMemoryTracer()

  private func spans(_ name: String) -> [FinishedInMemorySpan] {
    tracer.finishedSpans.filter { $0.operationName == name }
  }

  @Test("of a handler on the sender, on a queue, on actors, and of an asynchronous one")
  func places() async {
    let hub = EventHub<Int>(name: "prices")
    let home = Home()
    let tracer = tracer
    func option(_ place: String) -> [SubscriberOption<Int>] { [.traced(place, tracer: tracer)] }
    /// What a handler does with the context that it sees.
    @Sendable func work(_ event: Int) {
      tracer.withSpan("work", context: .current ?? .topLevel) { $0.attributes["event"] = event }
    }
    let subscriptions = [
      hub.subscribe(on: .sender, options: option("sender"), work),
      hub.subscribe(on: DispatchQueue(label: "queue"), options: option("queue"), work),
      hub.subscribe(on: .main, options: option("main"), work),
      hub.subscribe(options: option("task")) { event async in
        await Task.yield()
        work(event)
      },
      await home.follow(hub, .traced("actor", tracer: tracer)),
    ]
    for event in 1...2 {
      #expect(hub.send(event, inSpan: "send", tracer: tracer) == 5)
    }
    await hub.flush()

    let sends = spans("send")
    #expect(sends.map(\.kind) == [.producer, .producer])
    #expect(sends.allSatisfy { $0.attributes.get("multicast.hub") == .string("prices") })
    #expect(sends.allSatisfy { $0.attributes.get("multicast.receivers") == .int64(5) })
    for place in ["sender", "queue", "main", "task", "actor"] {
      let calls = spans(place)
      #expect(calls.map(\.parentSpanID) == sends.map(\.spanID), "\(place)")
      #expect(calls.map(\.traceID) == sends.map(\.traceID), "\(place)")
      #expect(calls.allSatisfy { $0.kind == .consumer })
      // Below the call is what the handler does, the actor's excepted, which does nothing.
      let works = spans("work").filter { work in calls.contains { $0.spanID == work.parentSpanID } }
      #expect(works.count == (place == "actor" ? 0 : 2), "\(place)")
    }
    #expect(await home.received == [1, 2])
    #expect(tracer.activeSpans.isEmpty)
    withExtendedLifetime(subscriptions) {}
  }

  @Test("without a span of the sender, it begins a trace; so does an event of a replay")
  func roots() async {
    let hub = EventHub<Int>(replay: 1)
    hub.send(1, inSpan: "send", tracer: tracer)
    let subscription = hub.subscribe(
      on: DispatchQueue(label: "queue"), options: [.traced("call", tracer: tracer)]
    ) { _ in }
    hub.send(2)
    await hub.flush()
    #expect(spans("call").map(\.parentSpanID) == [nil, nil])
    #expect(Set(spans("call").map(\.traceID)).count == 2)
    withExtendedLifetime(subscription) {}
  }

  @Test("an event of a replay is below the span in which it is delivered, in a sender's handler")
  func replayOnTheSender() {
    let hub = EventHub<Int>(replay: 1)
    hub.send(1, inSpan: "send", tracer: tracer)
    let subscription = tracer.withSpan("subscribe") { _ in
      hub.subscribe(on: .sender, options: [.traced("call", tracer: tracer)]) { _ in }
    }
    hub.send(2, inSpan: "send", tracer: tracer)
    let parents = [spans("subscribe")[0], spans("send")[1]].map(\.spanID)
    #expect(spans("call").map(\.parentSpanID) == parents)
    withExtendedLifetime(subscription) {}
  }

  @Test("the context alone reaches the handler, without a span")
  func contextAlone() async {
    let hub = EventHub<Int>()
    let seen = Mutex<[String?]>([])
    let subscriptions = [
      hub.subscribe(on: .global(), options: [.carryingServiceContext]) { _ in
        seen.withLock { $0.append(ServiceContext.current?.inMemorySpanContext?.spanID) }
      },
      hub.subscribe(on: .global()) { _ in
        seen.withLock { $0.append(ServiceContext.current?.inMemorySpanContext?.spanID) }
      },
    ]
    hub.send(1, inSpan: "send", tracer: tracer)
    await hub.flush()
    let sender = spans("send").first?.spanID
    #expect(sender != nil)
    #expect(seen.withLock { Set($0) } == [sender, nil])
    #expect(tracer.finishedSpans.count == 1)
    withExtendedLifetime(subscriptions) {}
  }

  @Test("of a consumer that iterates a sequence, from many senders")
  func sequences() async {
    let hub = EventHub<Traced<Int>>(name: "orders")
    let sequence = hub.events()
    let senders = 4
    let perSender = 50
    let consumer = Task { [tracer] in
      var received: [Int] = []
      for await order in sequence {
        await order.withSpan("store", tracer: tracer) { number, span in
          span.attributes["number"] = number
          await Task.yield()
          tracer.withSpan("write", context: .current ?? .topLevel) { _ in }
          received.append(number)
        }
      }
      return received
    }
    await withTaskGroup { group in
      for sender in 0..<senders {
        group.addTask { [tracer] in
          for index in 0..<perSender {
            tracer.withSpan("request \(sender * perSender + index)") { _ in
              _ = hub.send(tracing: sender * perSender + index)
            }
          }
        }
      }
    }
    hub.finish()
    #expect(await consumer.value.sorted() == Array(0..<senders * perSender))
    let stores = spans("store")
    #expect(stores.count == senders * perSender)
    for store in stores {
      guard case .int64(let number)? = store.attributes.get("number") else {
        Issue.record("no number")
        continue
      }
      #expect(store.parentSpanID == spans("request \(number)").first?.spanID)
      #expect(store.kind == .consumer)
    }
    #expect(Set(spans("write").map(\.parentSpanID)) == Set(stores.map(\.spanID)))
  }

  @Test("of a topic, with its name; a synchronous span; an error is recorded")
  func topics() async throws {
    let hub = TopicHub<String, Traced<Int>>(name: "chat")
    let sequence = hub.events(for: "news")
    #expect(hub.send(tracing: 7, to: "news", inSpan: "publish", tracer: tracer) == 1)
    #expect(hub.send(Traced(8), to: "news", inSpan: "publish", tracer: tracer) == 1)
    hub.finish()
    for await message in sequence {
      #expect(throws: Failure.self) {
        try message.withSpan("show", tracer: tracer) { _, _ in throw Failure() }
      }
    }
    let publish = try #require(spans("publish").first)
    #expect(publish.attributes.get("multicast.topic") == .string("news"))
    let shows = spans("show")
    // The context of the second was taken outside of its span.
    #expect(shows.map(\.parentSpanID) == [publish.spanID, nil])
    #expect(shows.allSatisfy { $0.errors.count == 1 })
  }

  @Test("the tracer is that of the system at each call, unless one is given")
  func currentTracer() {
    let hub = EventHub<Int>()
    let subscription = hub.subscribe(on: .sender, options: [.traced("call")]) { _ in }
    hub.send(1, inSpan: "send")
    #expect(tracer.finishedSpans.isEmpty)
    withTracer(tracer) { _ = hub.send(2, inSpan: "send") }
    #expect(tracer.finishedSpans.map(\.operationName) == ["call", "send"])
    withExtendedLifetime(subscription) {}
  }
}
