import Dispatch
import MulticastTestSupport
import Testing

@testable import Multicast

private struct First: Sendable {}
private struct Second: Sendable {}

@Suite(
  "A plain send into a full buffer that makes senders wait warns once, and is counted", .serialized)
struct UnwaitedDropTests {
  /// The warnings about hubs of one type of event.
  private final class Warnings: Sendable {
    let lines = Guarded<[String]>([])

    init() {
      WarningOutput.shared.replace { [weak self] line in
        self?.lines.withLock { $0.append(line) }
      }
    }

    deinit { WarningOutput.shared.replace(with: nil) }

    func naming(_ type: String) -> [String] {
      lines.withLock { $0.filter { $0.contains(type) } }
    }
  }

  @Test("once for each hub, with a line that names sendWaiting")
  func once() async {
    let warnings = Warnings()
    for count in 1...2 {
      let hub = EventHub<First>()
      let subscribers = (0..<3).map { _ in
        hub.events(buffering: .bounded(1, whenFull: .suspend))
      }
      hub.send(First())
      #expect(warnings.naming("EventHub<First>").count == count - 1)
      for _ in 0..<5 { hub.send(First()) }
      #expect(warnings.naming("EventHub<First>").count == count)
      #expect(hub.statistics.dropped == 15 && hub.statistics.droppedWithoutWaiting == 15)
      withExtendedLifetime(subscribers) {}
    }
    let line = warnings.naming("EventHub<First>")[0]
    #expect(line.hasPrefix("Multicast: ") && line.hasSuffix("\n") && line.contains("sendWaiting"))
  }

  @Test("not for other policies, nor for senders that wait and are cancelled")
  func others() async {
    let warnings = Warnings()
    let hub = EventHub<Second>(ordering: .total)
    let subscribers = [OverflowPolicy.dropOldest, .dropNewest, .disconnect].map {
      hub.events(buffering: .bounded(1, whenFull: $0))
    }
    for _ in 0..<3 { hub.send(Second()) }
    let suspending = hub.events(buffering: .bounded(1, whenFull: .suspend))
    hub.send(Second())
    let sender = Task { await hub.sendWaiting(Second()) }
    await eventually { hub.statistics.pending >= 5 }
    sender.cancel()
    #expect(await !sender.value)
    #expect(hub.statistics.dropped > 5 && hub.statistics.droppedWithoutWaiting == 0)
    #expect(warnings.naming("<Second>").isEmpty)
    withExtendedLifetime((subscribers, suspending)) {}
  }

  @Test("once for all topics of a hub")
  func topics() {
    let warnings = Warnings()
    let hub = TopicHub<Int, First>()
    let subscribers = (0..<3).map { topic in
      hub.events(for: topic, buffering: .bounded(1, whenFull: .suspend))
    }
    for topic in 0..<3 {
      for _ in 0..<3 { hub.send(First(), to: topic) }
      #expect(hub.statistics(for: topic)?.droppedWithoutWaiting == 2)
    }
    #expect(warnings.naming("TopicHub<Int, First>").count == 1)
    withExtendedLifetime(subscribers) {}
  }

  @Test("no lock is held: what a warning runs may use the hub")
  func reentrancy() {
    let hub = EventHub<Int>()
    let subscriber = hub.events(buffering: .bounded(1, whenFull: .suspend))
    let count = Counter()
    WarningOutput.shared.replace { line in
      guard line.contains("EventHub<Int>") else { return }
      count.add()
      hub.send(7)
      hub.subscribe { _ in }.cancel()
    }
    defer { WarningOutput.shared.replace(with: nil) }
    for event in 0..<3 { hub.send(event) }
    #expect(count.value == 1 && hub.statistics.droppedWithoutWaiting == 3)
    withExtendedLifetime(subscriber) {}
  }

  @Test("the line is on standard error; a process writes a limited number")
  func standardError() async {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      for _ in 0..<100 {
        let hub = EventHub<String>()
        let subscriber = hub.events(buffering: .bounded(1, whenFull: .suspend))
        for _ in 0..<3 { hub.send("") }
        withExtendedLifetime(subscriber) {}
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    let lines = text.split(separator: "\n").filter { $0.hasPrefix("Multicast: EventHub<String>") }
    #expect(lines.count == 16)
    #expect(lines.first?.contains("sendWaiting") == true)
  }
}
