#if NATS
  import FanOutCore
  import Testing

  @testable import NATSRelay

  /// How a shutdown waits for events.
  @Suite(.timeLimit(.minutes(5))) struct DeliveriesTests {
    private let deliveries = Deliveries()

    @Test func aWaitEndsWithTheEvent() async {
      async let isThere = deliveries.reach(2, within: .seconds(3600))
      while deliveries.waiterCount == 0 { await Task.yield() }
      deliveries.advance(to: 1)
      #expect(deliveries.waiterCount == 1)
      deliveries.advance(to: 3)
      #expect(await isThere)
      #expect(await deliveries.reach(3, within: .zero))
      deliveries.advance(to: 0, isBeginning: true)
      #expect(await !deliveries.reach(3, within: .zero))
    }

    @Test func aWaitEndsAtItsLimit() async {
      #expect(await !deliveries.reach(2, within: .milliseconds(1)))
      // The limit may pass before the wait begins.
      for _ in 0..<1_000 { #expect(await !deliveries.reach(2, within: .nanoseconds(1))) }
    }
  }
#endif
