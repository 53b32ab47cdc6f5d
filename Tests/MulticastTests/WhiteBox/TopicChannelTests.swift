import MulticastTestSupport
import Testing

@testable import Multicast

@Suite("TopicChannel")
struct TopicChannelTests {
  private func makeChannel(in hub: TopicHub<Int, Int>) -> TopicChannel<Int, Int> {
    hub.topics.hub(of: 1) {
      EventHub(
        ordering: .perSender, storage: .waitFree, state: TopicChannel(1, hub.common))
    }.channel()
  }

  @Test("it closes for good, and leaves its table, with its last user")
  func lastUser() {
    let hub = TopicHub<Int, Int>()
    let channel = makeChannel(in: hub)
    #expect(channel.acquire() && channel.acquire())
    channel.release()
    #expect(hub.topicCount == 1)
    #expect(channel.acquire())
    channel.release()
    channel.release()
    #expect(hub.topicCount == 0)
    #expect(!channel.acquire())
  }

  @Test("a channel that was closed has no new users, and its users may leave")
  func closed() {
    let hub = TopicHub<Int, Int>()
    let channel = makeChannel(in: hub)
    #expect(channel.acquire())
    channel.close()
    #expect(!channel.acquire())
    channel.release()
    #expect(hub.topicCount == 1, "the thread that closed it removes it")
  }

  @Test("of threads that come and go, the last one closes it, once")
  func concurrently() {
    for _ in 0..<300 {
      let hub = TopicHub<Int, Int>()
      let channel = makeChannel(in: hub)
      #expect(channel.acquire())
      runThreads(3) { thread in
        for _ in 0..<10 {
          if channel.acquire() { channel.release() }
        }
        if thread == 0 { channel.release() }
      }
      #expect(hub.topicCount == 0 && !channel.acquire())
    }
  }

  /// A topic that refers to its own subscription.
  private final class Room: Hashable, @unchecked Sendable {
    // Sendable: `subscription` is used by one thread at a time.
    let observer: RecordingObserver
    var subscription: EventSubscription?

    init(_ tracker: LifetimeTracker) { observer = RecordingObserver(tracker: tracker) }

    static func == (left: Room, right: Room) -> Bool { left === right }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  }

  @Test("a handle does not keep the topic after its end", arguments: Ordering.allCases, 0..<4)
  func handleDoesNotKeepTheTopic(ordering: Ordering, end: Int) {
    let tracker = LifetimeTracker()
    var hub: TopicHub<Room, Int>? = TopicHub(ordering: ordering)
    let all = hub!.allTopics.subscribe(on: .sender) { _ in }
    do {
      let room = Room(tracker)
      room.subscription = hub!.subscribe(to: room, on: .sender) { _ in }
      #expect(hub!.send(1, to: room) == 2)
      switch end {
      case 0: room.subscription?.cancel()
      case 1: hub!.finish(room)
      case 2: hub!.finish()
      default: hub = nil
      }
    }
    #expect(tracker.live == 0)
    withExtendedLifetime((hub, all)) {}
  }

  @Test("neither if the last subscription ends while the hub of topics does")
  func theTopicIsDestroyedOnce() {
    let tracker = LifetimeTracker()
    for round in 0..<500 {
      let room = Room(tracker)
      let hub = Guarded<TopicHub<Room, Int>?>(TopicHub())
      room.subscription = hub.withLock { $0!.subscribe(to: room, on: .sender) { _ in } }
      let handle = room.subscription!
      runThreads(2) { thread in
        if thread == round % 2 {
          handle.cancel()
        } else {
          let last = hub.withLock { hub in
            defer { hub = nil }
            return hub
          }
          withExtendedLifetime(last) {}
        }
      }
    }
    #expect(tracker.live == 0)
  }
}
