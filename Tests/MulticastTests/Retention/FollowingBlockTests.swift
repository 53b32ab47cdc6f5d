import Dispatch
import MulticastTestSupport
import Testing

@testable import Multicast

@Suite("A handler with positions that is blocked gets nothing, and afterwards everything")
struct FollowingBlockTests {
  @Test(
    "what is sent after a block, while the handler still begins", arguments: FollowerKind.handlers)
  func beginning(_ kind: FollowerKind) async throws {
    for _ in 0..<200 {
      let hub = EventHub<Int>(retention: .last(10))
      let follower = Follower<Int>()
      let following = await hub.follow(kind, from: .live) { follower.receive($0) }
      let subscription = try #require(following.subscription)
      subscription.block()
      hub.send(1)
      await hub.flush()
      #expect(follower.events.isEmpty)
      subscription.unblock()
      await hub.flush()
      #expect(follower.events == [1])
      following.cancel()
    }
  }

  @Test("the same of topics and of patterns", arguments: TopicHandlerKind.all)
  func beginningOfTopics(_ kind: TopicHandlerKind) async {
    for _ in 0..<200 {
      let hub = TopicHub<String, Int>(retention: .last(10))
      let received = TopicElements()
      let following = await hub.follow(kind, ["a"], from: .live) { received.receive($0) }
      following.subscription.block()
      hub.send(1, to: "a")
      await hub.flush()
      #expect(received.elements.isEmpty)
      following.subscription.unblock()
      await hub.flush()
      #expect(received.elements.map(\.payload) == [1])
      following.cancel()
    }
  }

  @Test("a block by the filter: the event that it has comes afterwards, once, in its place")
  func filter() async {
    let hub = EventHub<Int>(retention: .last(10))
    let (holder, journal) = (Holder<EventSubscription>(nil), Journal())
    let filter: @Sendable (Int) -> Bool = { event in
      if event == 2 { holder.value!.block() }
      return event != 3
    }
    let queue = DispatchQueue(label: "blocked by its filter")
    for place in [SubscriptionPlace.sender, .queue(queue)] {
      switch place {
      case .sender:
        holder.value = hub.subscribe(from: .live, on: .sender, where: filter) {
          journal.record($0.event!)
        }
      case .queue(let queue):
        holder.value = hub.subscribe(from: .live, on: queue, where: filter) {
          journal.record($0.event!)
        }
      }
      for event in 1...4 { hub.send(event) }
      await eventually { holder.value!.isBlocked }
      await hub.flush()
      #expect(journal.entries == [1])
      holder.value!.unblock()
      await hub.flush()
      #expect(journal.take() == [1, 2, 4])
      holder.value!.cancel()
      holder.value = nil
    }
  }

  private enum SubscriptionPlace {
    case sender
    case queue(DispatchQueue)
  }
}
