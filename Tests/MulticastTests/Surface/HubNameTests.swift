import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@Suite("A hub's name identifies it in descriptions and messages")
struct HubNameTests {
  @Test func delegates() async {
    let hub = MulticastDelegate<any Observing>(name: "downloads")
    let delegate = RecordingObserver()
    hub.add(delegate)
    #expect(hub.name == "downloads")
    let text = #"MulticastDelegate<Observing>(name: "downloads", count: 1, storage: waitFree)"#
    #expect(hub.description == text)
    #expect(hub.debugDescription == text + " [RecordingObserver]")
    #expect(MulticastDelegate([delegate], name: "more").name == "more")
    #expect(MulticastDelegate<any Observing>().name == nil)
  }

  @Test func actors() async {
    let hub = AwaitingHub(name: "uploads")
    let text = #"MulticastActor<Awaited>(name: "uploads", count: 0, storage: waitFree)"#
    #expect(hub.description == text)
    #expect(hub.debugDescription == text + " []")
    #expect(hub.name == "uploads")
    #expect(AwaitingHub(name: "queue", on: .global()).name == "queue")
  }

  @Test func events() {
    let hub = EventHub<Int>(storage: .locked, name: "prices")
    let subscription = hub.subscribe { _ in }
    #expect("\(hub)" == #"EventHub<Int>(name: "prices", subscribers: 1, storage: locked)"#)
    #expect("\(EventHub<Int>())" == "EventHub<Int>(subscribers: 0, storage: waitFree)")
    #expect(hub.events().multicast(name: "again").name == "again")
    #expect(hub.name == "prices")
    withExtendedLifetime(subscription) {}
  }

  @Test func topics() {
    let hub = TopicHub<String, Int>(name: "chat")
    let subscription = hub.subscribe(to: "a") { _ in }
    #expect("\(hub)" == #"TopicHub<String, Int>(name: "chat", topics: 1, storage: waitFree)"#)
    #expect("\(TopicHub<Int, Int>())" == "TopicHub<Int, Int>(topics: 0, storage: waitFree)")
    #expect(hub.name == "chat")
    withExtendedLifetime(subscription) {}
  }

  @Test("a bad weak delegate: the message names the hub")
  func badInput() async throws {
    let value = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      MulticastDelegate<any Listening>(name: "downloads").add(
        RecordingValue(1, journal: Journal()))
    }
    #expect(try message(value).contains(#"in the hub "downloads": RecordingValue"#))
    let boxed = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      MulticastDelegate<AnyObject>(name: "boxes").add("x" as AnyObject)
    }
    #expect(try message(boxed).contains(#"in the hub "boxes": x"#))
    let replay = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = EventHub<Int>(replay: -1, name: "prices")
    }
    #expect(try message(replay).contains(#"in the hub "prices": replay must not be negative"#))
  }

  private func message(_ result: ExitTest.Result?) throws -> String {
    String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
  }

  @Test("a timed-out call names the hub")
  func timedOut() async {
    let hub = AwaitingHub(name: "uploads")
    let delegate = AwaitedObserver(0)
    hub.add(delegate)
    for result in await hub.invokeConcurrently(timeout: .zero, { await $0.receive(1) }) {
      let error = #expect(throws: DeliveryTimeoutError.self) { try result.get() }
      #expect(error?.hub == "uploads")
      #expect(error.map { "\($0)" }?.hasPrefix(#"in the hub "uploads" "#) == true)
    }
    #expect("\(DeliveryTimeoutError(timeout: .zero))".hasPrefix("the delegate"))
  }
}
