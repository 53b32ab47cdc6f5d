import Testing

@testable import Multicast

@Suite("The number of subscriptions that a sender returns")
struct SubscriptionCounterTests {
  @Test("it is not negative if a removal is counted before the addition")
  func removalBeforeAddition() {
    let counter = SubscriptionCounter()
    counter.add(-1)
    #expect(counter.total == 0)
    counter.add(1)
    #expect(counter.total == 0)
    counter.add(1)
    #expect(counter.total == 1)
  }
}
