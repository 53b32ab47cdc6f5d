import Multicast
import MulticastTestSupport
import Testing

/// A topic as an attacker would choose it: all have the same hash value.
private struct FloodedTopic: Hashable, Sendable {
  let number: Int

  func hash(into hasher: inout Hasher) {}
}

@Suite("Topics of equal hash values cost time, but no stack")
struct HashFloodTests {
  @Test("thousands of them, on a thread with a small stack")
  func smallStack() {
    let tracker = LifetimeTracker()
    // As 20,000 topics on 512 KB, in a quarter of both.
    let count = 5_000
    let thread = RunningThread(stackSize: 128 * 1024) {
      var hub: TopicHub? = TopicHub<FloodedTopic, Int>()
      var subscriptions: [EventSubscription] = []
      for number in 0..<count {
        let payload = RecordingObserver(number, tracker: tracker)
        subscriptions.append(
          hub!.subscribe(to: FloodedTopic(number: number)) { _ in payload.receive(0) })
      }
      #expect(hub?.topicCount == count)
      for number in [0, count / 2, count - 1] {
        #expect(hub?.send(1, to: FloodedTopic(number: number)) == 1)
      }
      // The first one is the last of its bucket.
      for number in 0..<20 { hub?.finish(FloodedTopic(number: number)) }
      for number in (0..<20).reversed() { subscriptions[count - 20 + number].cancel() }
      #expect(hub?.topicCount == count - 40)
      #expect(hub?.send(1, to: FloodedTopic(number: 0)) == 0)
      #expect(hub?.send(1, to: FloodedTopic(number: 20)) == 1)
      // The hub goes first: otherwise its topics would go one by one with the subscriptions.
      hub = nil
      #expect(!subscriptions.contains { $0.isActive })
    }
    thread.join()
    #expect(tracker.created == count)
    #expect(tracker.live == 0)
  }

  @Test("a bucket that many threads change and read is destroyed whole")
  func concurrently() {
    let tracker = LifetimeTracker()
    for _ in 0..<5 {
      let hub = TopicHub<FloodedTopic, Int>()
      runThreads(3) { index in
        for round in 0..<20 {
          let subscriptions = (0..<30).map { number in
            let payload = RecordingObserver(tracker: tracker)
            return hub.subscribe(to: FloodedTopic(number: number * 3 + index)) { _ in
              payload.receive(0)
            }
          }
          for number in 0..<90 { hub.send(round, to: FloodedTopic(number: number)) }
          for subscription in round % 2 == 0 ? subscriptions : subscriptions.reversed() {
            subscription.cancel()
          }
        }
      }
      #expect(hub.topicCount == 0)
    }
    #expect(tracker.created == 5 * 3 * 20 * 30)
    #expect(tracker.live == 0)
  }
}
