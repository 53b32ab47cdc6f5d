import Multicast
import MulticastTestSupport
import Testing

@Suite("A directory finds hubs by name and keeps none alive")
struct HubDirectoryTests {
  @Test func hubsAreFoundByName() {
    let directory = HubDirectory()
    let prices = EventHub<Int>(name: "prices")
    let rooms = TopicHub<String, Int>(name: "rooms")
    let watchers = MulticastDelegate<Counter>(name: "watchers")
    directory.add(prices)
    directory.add(rooms)
    directory.add(watchers)
    #expect(directory["rooms"]?.type == "TopicHub<String, Int>")
    #expect(directory["none"] == nil)
    let others = TopicHub<Int, Int>(name: "rooms")
    directory.add(others)
    #expect(directory["rooms"]?.type == "TopicHub<String, Int>")  // the first
    #expect(directory.snapshots.map(\.name) == ["prices", "rooms", "watchers", "rooms"])
    withExtendedLifetime((prices, rooms, watchers, others)) {}
  }

  @Test func aHubThatIsGoneIsNotFound() {
    let directory = HubDirectory()
    do {
      let hub = EventHub<Int>(name: "prices")
      directory.add(hub)
      #expect(directory.hubs.count == 1)
    }
    #expect(directory["prices"] == nil)
    #expect(directory.hubs.isEmpty)
  }

  @Test func aHubThatEndsWhileOthersAreAddedMayUseTheDirectory() {
    let directory = HubDirectory()
    let ended = Counter()
    runThreads(4) { _ in
      for _ in 0..<500 {
        let hub = EventHub<Int>(onSubscriberChange: { change in
          guard case .removed = change else { return }
          ended.add()
          _ = directory.hubs.count  // Runs in the deinit of the hub, on any thread.
        })
        let subscription = hub.subscribe(on: .sender) { _ in }
        directory.add(hub)
        withExtendedLifetime(subscription) {}
      }
    }
    #expect(ended.value == 2000)
    #expect(directory.hubs.isEmpty)
  }
}
