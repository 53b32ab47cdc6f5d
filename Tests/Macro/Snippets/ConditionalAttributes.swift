// Attributes under a condition, which the parser refuses. `Tests/Macro/differential` leaves this
// file out.

import MulticastMacros

@Multicast
protocol ConditionalAttribute: AnyObject {
  #if os(Linux)
    @available(*, deprecated)
  // expected-error{{'@Multicast' does not read attributes under a condition: write the whole declaration under it}}
  #endif
  func start()
}

@Multicast
protocol AttributeBeforeCondition: AnyObject {
  @Answer(.last)
  // expected-error{{does not read attributes under a condition}}
  #if os(Linux)
    @available(*, deprecated)
  #endif
  func name() -> String?
}

@Multicast
// expected-error{{does not read attributes under a condition}}
#if os(Linux)
  @MainActor
#endif
protocol ConditionalActor: AnyObject {
  func start()
}

// expected-error{{does not read attributes under a condition}}
#if os(Linux)
  @MainActor
#endif
@Multicast
protocol ConditionFirst: AnyObject {
  func start()
}
