import Dispatch
import MulticastTestSupport
import Synchronization
import Testing

@testable import Multicast

extension HubFlushTests {
  @Test("topics: all of them, and those that were finished in the meantime", arguments: 0...1)
  func topics(kind: Int) async {
    let hub = TopicHub<Int, Int>(ordering: kind == 0 ? .perSender : .total)
    let (entered, leave) = (Gate("entered"), Gate("leave"))
    let handled = Counter()
    let subscriptions = (0..<50).map { topic in
      hub.subscribe(to: topic, on: .global()) { event in
        if event == 7 {
          entered.open()
          leave.wait()
        }
        handled.add()
      }
    }
    for topic in 0..<50 { hub.send(topic, to: topic) }
    entered.wait()
    for topic in 0..<50 where topic % 2 == 1 { hub.finish(topic) }
    #expect(!blocking(hub, .zero))
    async let flushed: Void = hub.flush()
    leave.open()
    await flushed
    #expect(handled.value == 50)
    hub.finish()
    await hub.flush()
    #expect(blocking(hub, .zero))
    withExtendedLifetime(subscriptions) {}
  }

  @Test("topics that finish leave nothing behind")
  func finishedTopicsAreForgotten() async {
    let hub = TopicHub<Int, Int>()
    for topic in 0..<1_000 {
      let subscription = hub.subscribe(to: topic) { _ in }
      hub.finish(topic)
      withExtendedLifetime(subscription) {}
    }
    #expect(hub.finishedTopics.count <= 32)
  }

  @Test("what is pending in a topic is waited for, though its last subscriber was cancelled")
  func pendingWithoutSubscribers() async {
    let hub = TopicHub<Int, Int>(ordering: .total)
    let (entered, leave) = (Gate("the handler is called"), Gate("it may return"))
    let all = Journal()
    let observer = hub.allTopics.subscribe(on: .sender) { all.record($0.event) }
    let last = hub.subscribe(to: 0, on: .sender) { _ in
      entered.open()
      leave.wait()
    }
    let results = await onOwnThread {
      let delivery = RunningThread { hub.send(1, to: 0) }
      entered.wait()
      hub.send(2, to: 0)
      last.cancel()
      let isEarly = hub.topicCount == 0 && hub.flush(timeout: .zero)
      for topic in 1...100 {
        let subscription = hub.subscribe(to: topic, on: .sender) { _ in }
        hub.finish(topic)
        withExtendedLifetime(subscription) {}
      }
      let isEarlyAgain = hub.flush(timeout: .zero)
      leave.open()
      let isDone = hub.flush(timeout: .seconds(100))
      let received = all.entries
      delivery.join()
      return (isEarly, isEarlyAgain, isDone, received)
    }
    #expect(!results.0 && !results.1 && results.2 && results.3 == [1, 2])
    withExtendedLifetime(observer) {}
  }

  @Test("what is pending in a topic is waited for, though its delivery began after its end")
  func pendingAfterTheEnd() async {
    let hub = TopicHub<Int, Int>(ordering: .total)
    let (entered, leave) = (Gate("the handler is called"), Gate("it may return"))
    let all = Journal()
    let observer = hub.allTopics.subscribe(on: .sender) { element in
      all.record(element.event)
      guard element.event == 1 else { return }
      entered.open()
      leave.wait()
    }
    let results = await onOwnThread {
      let last = hub.subscribe(to: 0) { _ in }
      // Two senders have found the topic when it ends.
      let found = hub.topics.hub(of: 0)
      last.cancel()
      for topic in 1...100 { hub.subscribe(to: topic) { _ in }.cancel() }
      let isKnown = hub.finishedTopics.targets.contains { $0.sequencer === found?.sequencer }
      let delivery = RunningThread { _ = found?.sendForwarding(1) }
      entered.wait()
      _ = found?.sendForwarding(2)
      let isEarly = hub.topicCount == 0 && hub.flush(timeout: .zero)
      leave.open()
      let isDone = hub.flush(timeout: .seconds(100))
      let received = all.entries
      delivery.join()
      return (isKnown, isEarly, isDone, received)
    }
    #expect(results.0 && !results.1 && results.2 && results.3 == [1, 2])
    withExtendedLifetime(observer) {}
  }

  @Test("with a total order too, topics that come and go leave nothing behind")
  func emptyTopicsAreForgotten() {
    let hub = TopicHub<Int, Int>(ordering: .total)
    for topic in 0..<1_000 { hub.subscribe(to: topic) { _ in }.cancel() }
    #expect(hub.finishedTopics.count <= 32)
  }
}

/// Calls from an asynchronous function what may only be called from a blocking one.
private func blocking(_ hub: TopicHub<Int, Int>, _ timeout: Duration) -> Bool {
  hub.flush(timeout: timeout)
}
