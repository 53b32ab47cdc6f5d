import Foundation
import Multicast
import Testing

@Suite("What a retention or a start cannot be is a precondition failure that names it")
struct RetentionTrapTests {
  @Test func negativeCount() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = Retention<Int>.last(-3) }
    expect(result, "cannot retain -3 events")
  }

  @Test func negativeBytes() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = Retention<Int>.bytes(-1) { $0 } }
    expect(result, "cannot retain -1 bytes")
  }

  @Test func noTime() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = Retention<Int>.seconds(0) }
    expect(result, "use a positive number")
    let seconds = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = Retention<Int>.seconds(.nan) }
    expect(seconds, "use a positive number")
  }

  @Test func twoSizes() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = Retention<Int>.bytes(1) { $0 }.and(.bytes(2) { $0 }) }
    expect(result, "two sizes of an event; use `bytes` once")
  }

  @Test func twoKeys() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = Retention<Int>.latestPerKey { $0 }.and(.latestPerKey { $0 }) }
    expect(result, "two keys of an event; use `latestPerKey` once")
  }

  @Test func negativeSize() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { EventHub<Int>(retention: .bytes(10) { $0 }).send(-7) }
    expect(result, "the size of an event is -7")
  }

  @Test func negativeStart() async {
    let handler = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let hub = EventHub<Int>(retention: .last(1), name: "chat")
      _ = hub.subscribe(from: .last(-2), on: .sender) { _ in }
    }
    expect(handler, "chat", "cannot begin with last(-2): the count is negative")
    let sequence = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = EventHub<Int>(retention: .last(1)).events(from: .last(-2)) }
    expect(sequence, "cannot begin with last(-2): the count is negative")
    let read = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = EventHub<Int>(retention: .last(1)).retainedEvents(from: .last(-2)) }
    expect(read, "cannot begin with last(-2): the count is negative")
  }

  @Test func negativeLimit() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = EventHub<Int>(retention: .last(1)).retainedEvents(atMost: -1) }
    expect(result, "cannot return -1 retained events")
  }

  @Test func noRetention() async {
    let publish = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { EventHub<Int>(ordering: .total, name: "chat").publish(1) }
    expect(publish, "chat", "this hub retains no events")
    let sequence = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = EventHub<Int>().events(from: .live) }
    expect(sequence, "create it with a retention")
    let position = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = EventHub<Int>(retention: .none).newestPosition }
    expect(position, "this hub retains no events")
  }

  @Test func eventsFromAnExternalLog() async {
    let send = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { Self.hubWithLog().send(1, to: "a") }
    let batch = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { Self.hubWithLog().send(contentsOf: [1], to: "a") }
    let waiting = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { await Self.hubWithLog().sendWaiting(1, to: "a") }
    let trying = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = Self.hubWithLog().trySend(1, to: "a") }
    let publish = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { Self.hubWithLog().publish(1, to: "a") }
    for result in [send, batch, waiting, trying, publish] {
      expect(result, "chat", "the events of this hub come from an external log; publish to that")
    }
  }

  private static func hubWithLog() -> TopicHub<String, Int> {
    TopicHub(retention: .last(1), name: "chat") { _ in GatedLog.unreachable }
  }

  private func expect(
    _ result: ExitTest.Result?, _ texts: String...,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    for text in texts {
      #expect(message.contains(text), "\(message)", sourceLocation: sourceLocation)
    }
  }
}
