import Multicast
import MulticastTestSupport
import Testing

/// What the values and handles of the surface print.
@Suite("Policies and handles print what they are")
struct DescriptionTests {
  @Test("a buffering policy prints the call that makes it")
  func bufferingPolicies() {
    #expect("\(BufferingPolicy<Int>.unbounded)" == "unbounded")
    #expect(
      "\(BufferingPolicy<Int>.bounded(100, whenFull: .dropOldest))"
        == "bounded(100, whenFull: dropOldest)")
    #expect("\(BufferingPolicy<Int>.latest)" == "bounded(1, whenFull: dropOldest)")
    #expect("\(BufferingPolicy<Int>.coalescing { $0 })" == "coalescing")
  }

  @Test("a retention prints the calls that make it, without closures")
  func retentions() {
    #expect("\(Retention<Int>.none)" == "last(0)")
    #expect("\(Retention<Int>.all)" == "all")
    #expect("\(Retention<Int>.last(10))" == "last(10)")
    #expect("\(Retention<Int>.bytes(64) { $0 })" == "bytes(64)")
    #expect("\(Retention<Int>.seconds(0.5))" == "seconds(0.5)")
    #expect("\(Retention<Int>.latestPerKey { $0 })" == "latestPerKey")
    #expect("\(Retention<Int>.keeping { $0 > 0 })" == "keeping")
    #expect(
      "\(Retention<Int>.keeping { $0 > 0 }.and(.seconds(60)).and(.last(10)))"
        == "last(10).and(seconds(60.0)).and(keeping)")
  }

  @Test("a registration prints the type of its delegates and whether it is active")
  func registrations() {
    let hub = MulticastDelegate<RecordingObserver>()
    let delegate = RecordingObserver()
    let registration = hub.add(delegate)
    let scoped = registration.scoped()
    #expect("\(registration)" == "Registration<RecordingObserver>(isActive: true)")
    #expect("\(scoped)" == "ScopedRegistration<RecordingObserver>(isActive: true)")
    registration.cancel()
    #expect("\(registration)" == "Registration<RecordingObserver>(isActive: false)")
    #expect("\(scoped)" == "ScopedRegistration<RecordingObserver>(isActive: false)")
  }

  @Test("a subscription prints whether it is active")
  func subscriptions() {
    let hub = EventHub<Int>()
    let subscription = hub.subscribe { _ in }
    #expect("\(subscription)" == "EventSubscription(isActive: true)")
    hub.finish()
    #expect("\(subscription)" == "EventSubscription(isActive: false)")
  }
}
