import ConcurrencyStress
import Dispatch
import MulticastTestSupport
import Synchronization
import Testing

@testable import Multicast

@Suite("A reader of topics returns what there is, and tells when there is more")
struct TopicReaderTests: ExternalLogSuite {
  /// Counts the calls of a reader's closure.
  private final class Notices: Sendable {
    private let counter = Atomic<Int>(0)
    private let signal = DispatchSemaphore(value: 0)

    var count: Int { counter.load(ordering: .sequentiallyConsistent) }

    func add() {
      counter.wrappingAdd(1, ordering: .sequentiallyConsistent)
      signal.signal()
    }

    func wait() { signal.wait() }
  }

  @Test("it begins as a sequence does, and goes on with each later event")
  func order() {
    let hub = Hub(retention: .last(100), epoch: 7)
    for number in 1...3 { hub.send(number, to: number == 2 ? "b" : "a") }
    let both = hub.reader(for: ["a", "b", "a"], from: .retained) {}
    let late = hub.reader(for: ["a"], from: .after(at(1))) {}
    let live = hub.reader(for: ["a"], from: .live) {}
    #expect(hub.subscriberCount(for: "a") == 3 && hub.subscriberCount(for: "b") == 1)
    hub.send(4, to: "a")
    #expect(read(both) == ["a 1 @1", "b 2 @2", "a 3 @3", "a 4 @4"])
    #expect(read(late) == ["a 3 @3", "a 4 @4"])
    #expect(read(live) == ["a 4 @4"])
    hub.send(5, to: "a")
    for reader in [both, late, live] { #expect(read(reader) == ["a 5 @5"]) }
  }

  @Test("a reader of patterns gets the events of all topics that match")
  func patterns() throws {
    let hub = Hub(retention: .last(100))
    let notices = Notices()
    let reader = hub.reader(matching: [TopicPattern("a.*"), TopicPattern("c")], from: .live) {
      notices.add()
    }
    #expect(read(reader) == [])
    for (number, topic) in ["a.x", "b", "a.y", "c"].enumerated() { hub.send(number, to: topic) }
    #expect(notices.count == 1)
    #expect(read(reader) == ["a.x 0 @1", "a.y 2 @3", "c 3 @4"])
    hub.finish()
    #expect(read(reader) == [] && reader.end == .finished)
  }

  @Test("the closure is called once after each nil, when there is more, and not before the first")
  func notices() {
    let hub = Hub(retention: .last(1000))
    let notices = Notices()
    let reader = hub.reader(for: ["a"], from: .live) { notices.add() }
    for number in 1...100 { hub.send(number, to: "a") }
    #expect(notices.count == 0)
    #expect(read(reader).count == 100)
    hub.send(0, to: "b")
    #expect(notices.count == 0)
    for round in 1...3 {
      for number in 1...5 { hub.send(number, to: "a") }
      #expect(notices.count == round)
      #expect(read(reader).count == 5)
    }
    for number in 1...5 { hub.send(number, to: "a") }
    // Not until there is no more.
    for _ in 1...5 { #expect(reader.nextIfAvailable() != nil) }
    for number in 1...5 { hub.send(number, to: "a") }
    #expect(notices.count == 4)
  }

  @Test("what waits is returned after the end, which the closure is told of; then nothing follows")
  func finish() {
    let hub = Hub(retention: .last(1000))
    let notices = Notices()
    let reader = hub.reader(for: ["a", "b"], from: .live) { notices.add() }
    #expect(read(reader) == [])
    hub.send(1, to: "b")
    hub.finish("a")
    #expect(read(reader) == ["b 1 @1"] && reader.end == nil && notices.count == 1)
    hub.send(2, to: "b")
    hub.finish("b")
    #expect(reader.end == nil)
    #expect(read(reader) == ["b 2 @2"] && reader.end == .finished && notices.count == 2)
    #expect(reader.nextIfAvailable() == nil)
    hub.send(3, to: "b")
    #expect(reader.nextIfAvailable() == nil && notices.count == 2)
    #expect(hub.topicCount == 0)

    let other = hub.reader(for: ["a"], from: .live) { notices.add() }
    #expect(read(other) == [])
    hub.finish()
    #expect(notices.count == 3 && read(other) == [] && other.end == .finished)
    let late = hub.reader(for: ["a"], from: .live) { notices.add() }
    #expect(late.nextIfAvailable() == nil && late.end == .finished && notices.count == 3)
  }

  @Test("what is sent after the last topic has ended is neither returned nor counted")
  func afterTheEnd() {
    let hub = Hub(retention: .last(4), epoch: 7)
    let reader = hub.reader(for: ["a", "b"], from: .live) {}
    let two = hub.reader(for: ["a"], from: .live, buffering: .bounded(2, whenFull: .dropOldest)) {}
    let slow = hub.reader(for: ["a"], from: .live) {}
    let pattern = hub.reader(matching: ["a"], from: .live) {}
    #expect(read(reader) == [] && read(two) == [] && read(slow) == [])
    hub.send(1, to: "a")
    #expect(read(slow) == ["a 1 @1"])
    for number in 2...4 { hub.send(number, to: "a") }
    hub.finish("b")
    hub.finish("a")
    #expect(hub.droppedEvents == 2)
    hub.send(5, to: "a")
    // The event of the reader that has left because of it is counted at once.
    #expect(hub.droppedEvents == 3)
    #expect(read(reader) == ["missed a 7:0-7:1"] + (2...4).map { "a \($0) @\($0)" })
    for number in 6...7 { hub.send(number, to: "a") }
    #expect(read(two) == ["missed a 7:0-7:3", "a 4 @4"])
    hub.send(8, to: "a")
    #expect(read(slow) == ["missed a 7:1-7:4"])
    #expect([reader, two, slow].map(\.end) == [.finished, .finished, .finished])
    #expect(hub.droppedEvents == 1 + 3 + 3 && reader.position == at(4))
    #expect(read(pattern).last == "a 8 @8" && pattern.end == nil)
  }

  @Test("the topic ends, and the external log begins anew: nothing of that is returned")
  func beginsAnewAfterTheEnd() {
    let (hub, writer) = make(GatedLog.unreachable)
    writer.begin(epoch: 6, after: 100)
    let reader = hub.reader(for: ["a"], from: .live) {}
    writer.deliver(1, to: "a", number: 101)
    hub.finish("a")
    writer.begin(epoch: 7, after: 0)
    for number in 1...3 { writer.deliver(number, to: "a", number: UInt64(number)) }
    #expect(read(reader) == ["missed ? 6:100-7:0"] && reader.end == .finished)
  }

  @Test("a subscription that others cancel ends without what waits, and the closure is told")
  func cancelledByOthers() {
    let hub = Hub(retention: .last(1000))
    let notices = Notices()
    let reader = hub.reader(for: ["a"], from: .live) { notices.add() }
    #expect(read(reader) == [])
    hub.send(1, to: "a")
    #expect(reader.nextIfAvailable() != nil && reader.nextIfAvailable() == nil)
    #expect(notices.count == 1)
    hub.cancelSubscriptions(to: "a")
    #expect(notices.count == 2 && read(reader) == [] && reader.end == .cancelled)
  }

  @Test("a cancellation by others discards what was read too, and counts nothing any more")
  func cancelledByOthersAfterReading() {
    let hub = Hub(retention: .last(1000))
    let reader = hub.reader(
      for: ["a"], from: .live, buffering: .bounded(9, whenFull: .dropOldest)
    ) {}
    for number in 1...3 { hub.send(number, to: "a") }
    #expect(reader.nextIfAvailable() != nil)
    hub.cancelSubscriptions(to: "a")
    #expect(reader.nextIfAvailable() == nil && reader.end == .cancelled && reader.position == nil)
    for number in 1...20 { hub.send(number, to: "a") }
    #expect(read(reader) == [] && hub.droppedEvents == 0 && hub.topicCount == 0)
    #expect(hub.statistics(for: "a")?.pending == 0)
  }

  @Test("a sequence that others have cancelled returns nothing that it has read")
  func sequenceCancelledByOthers() async {
    let hub = Hub(retention: .last(1000))
    var iterator = hub.events(for: ["a"], from: .live).makeAsyncIterator()
    for number in 1...3 { hub.send(number, to: "a") }
    #expect(await iterator.next() != nil)
    hub.cancelSubscriptions(to: "a")
    #expect(await iterator.next() == nil)
    #expect(iterator.end == .cancelled)
  }

  @Test("a reader that is cancelled returns nothing, calls nothing and keeps no topic")
  func cancelled() {
    let hub = Hub(retention: .last(1000))
    let notices = Notices()
    let reader = hub.reader(for: ["a"], from: .live) { notices.add() }
    #expect(read(reader) == [])
    for number in 1...3 { hub.send(number, to: "a") }
    #expect(reader.nextIfAvailable() != nil && notices.count == 1)
    reader.cancel()
    #expect(reader.end == .cancelled && read(reader) == [] && hub.topicCount == 0)
    hub.send(4, to: "a")
    reader.cancel()
    #expect(read(reader) == [] && notices.count == 1)
  }

  @Test("a reader that is destroyed ends its subscription, and its closure is destroyed")
  func destroyed() {
    let hub = Hub(retention: .last(1000))
    weak var weakNotices: Notices?
    do {
      let notices = Notices()
      weakNotices = notices
      let reader = hub.reader(for: ["a"], from: .live) { notices.add() }
      hub.send(1, to: "a")
      #expect(read(reader).count == 1 && hub.topicCount == 1)
    }
    #expect(weakNotices == nil && hub.topicCount == 0)
  }

  @Test("a hub that is gone ends its readers, after what waits")
  func hubIsGone() {
    var hub: Hub? = Hub(retention: .last(1000))
    let notices = Notices()
    let reader = hub!.reader(for: ["a"], from: .live) { notices.add() }
    #expect(read(reader) == [])
    hub!.send(1, to: "a")
    hub = nil
    #expect(notices.count == 1 && read(reader) == ["a 1 @1"] && reader.end == .finished)
  }

  @Test("only as many events wait as the limit says, and what is missed is counted")
  func limits() {
    let hub = Hub(retention: .last(1000), epoch: 7)
    let notices = Notices()
    let oldest = hub.reader(
      for: ["a"], from: .live, buffering: .bounded(2, whenFull: .dropOldest)
    ) {}
    let disconnected = hub.reader(
      for: ["a"], from: .live, buffering: .bounded(2, whenFull: .disconnect)
    ) { notices.add() }
    #expect(read(disconnected) == [])
    for number in 1...5 { hub.send(number, to: "a") }
    #expect(read(oldest) == ["missed a 7:0-7:3", "a 4 @4", "a 5 @5"])
    #expect(hub.droppedEvents == 3 + 3)
    #expect(notices.count == 1)
    #expect(read(disconnected) == ["a 1 @1", "a 2 @2"])
    #expect(disconnected.end == .disconnected && notices.count == 1)
    #expect(disconnected.nextIfAvailable() == nil)
    #expect(hub.subscriberCount(for: "a") == 1)
    disconnected.cancel()
    #expect(disconnected.end == .disconnected && hub.subscriberCount(for: "a") == 1)
  }

  @Test("what the hub does not retain comes from the external log, and the closure tells when")
  func externalPages() async {
    let broker = Broker()
    await broker.setPageLimit(2)
    let (hub, writer) = make(broker, keeping: 2)
    writer.begin(epoch: 7, after: 0)
    for number in 1...10 {
      await broker.append(number, to: "a", UInt64(number))
      writer.deliver(number, to: "a", number: UInt64(number))
    }
    let (told, tell) = AsyncStream.makeStream(of: Void.self)
    let reader = hub.reader(for: ["a"], from: .after(at(1))) { tell.yield() }
    var texts = read(reader)
    var notices = told.makeAsyncIterator()
    while texts.count < 9 {
      await notices.next()
      texts += read(reader)
    }
    #expect(texts == (2...10).map { "a \($0) @\($0)" })
    await broker.setReachable(false)
    let other = hub.reader(for: ["a"], from: .after(at(1))) { tell.yield() }
    texts = read(other)
    while texts.count < 3 {
      await notices.next()
      texts += read(other)
    }
    #expect(texts == ["missed a 7:1-7:8", "a 9 @9", "a 10 @10"])
  }

  @Test("a position that the external log does not have is refused before anything is returned")
  func externalClaims() async {
    let broker = Broker()
    let (hub, writer) = make(broker)
    writer.begin(epoch: 7, after: 0)
    await broker.append(1, to: "a", 1)
    writer.deliver(1, to: "a", number: 1)
    let (told, tell) = AsyncStream.makeStream(of: Void.self)
    let reader = hub.reader(for: ["a"], from: .after(at(5))) { tell.yield() }
    var notices = told.makeAsyncIterator()
    var texts = read(reader)
    while texts.isEmpty {
      await notices.next()
      texts += read(reader)
    }
    #expect(texts == ["missed ? 7:5-7:1"])
    writer.deliver(2, to: "a", number: 2)
    #expect(read(reader) == ["a 2 @2"])
  }

  @Test("a position that is refused when the answer of the external log is taken is reported")
  func externalRefusal() async {
    let (gate, open) = AsyncStream.makeStream(of: Void.self)
    let (hub, writer) = make(GatedLog(gate: gate))
    writer.begin(epoch: 7, after: 0)
    writer.deliver(1, to: "a", number: 1)
    let (told, tell) = AsyncStream.makeStream(of: Void.self)
    let reader = hub.reader(for: ["a"], from: .after(at(5))) { tell.yield() }
    var notices = told.makeAsyncIterator()
    #expect(read(reader) == [])
    open.finish()
    await notices.next()
    writer.refusePositions(after: 1, namedBefore: writer.markPositions())
    #expect(read(reader) == ["missed ? 7:5-7:1"])
  }

  @Test("a reader that waits for the external log can be destroyed")
  func externalAbandoned() async {
    // The gate does not open: only the end of the reader ends the question.
    let (gate, open) = AsyncStream.makeStream(of: Void.self)
    let (hub, writer) = make(GatedLog(gate: gate))
    writer.begin(epoch: 7, after: 0)
    writer.deliver(1, to: "a", number: 1)
    do {
      let reader = hub.reader(for: ["a"], from: .after(at(5))) {}
      #expect(reader.nextIfAvailable() == nil)
      #expect(hub.topicCount == 1)
    }
    #expect(hub.topicCount == 0)
    withExtendedLifetime(open) {}
  }

  @Test("of concurrent events each is returned once and in order, and the last notice is not lost")
  func concurrentSenders() async {
    await onOwnThread {
      let hub = Hub(retention: .last(100_000))
      let count = 5_000
      runThreads(4) { thread in
        guard thread == 3 else {
          for number in 0..<count { hub.send(thread * count + number, to: "a") }
          return
        }
        let notices = Notices()
        let reader = hub.reader(for: ["a"], from: .retained) { notices.add() }
        var seen: [Int] = []
        var last: UInt64 = 0
        var waits = 0
        while seen.count < 3 * count {
          guard let element = reader.nextIfAvailable() else {
            // If a notice were lost, this would wait for ever.
            notices.wait()
            waits += 1
            continue
          }
          guard case .event(let event, at: let position) = element else { break }
          seen.append(event.event)
          if position.number <= last { break }
          last = position.number
        }
        #expect(seen.sorted() == Array(0..<3 * count) && last == UInt64(3 * count))
        for sender in 0..<3 {
          let own = seen.filter { $0 / count == sender }
          #expect(own == own.sorted())
        }
        #expect(notices.count <= waits + 1)
      }
      #expect(hub.topicCount == 0)
    }
  }

  @Test("the end reaches a reader that has just found nothing")
  func concurrentEnd() async {
    await onOwnThread {
      for _ in 0..<1_000 {
        let hub = Hub(retention: .last(10))
        let notices = Notices()
        let subscribed = DispatchSemaphore(value: 0)
        runThreads(2) { thread in
          if thread == 0 {
            subscribed.wait()
            return hub.finish()
          }
          let reader = hub.reader(for: ["a"], from: .live) { notices.add() }
          subscribed.signal()
          while true {
            guard reader.nextIfAvailable() == nil else { continue }
            if reader.end != nil { break }
            notices.wait()
          }
        }
      }
    }
  }
}
