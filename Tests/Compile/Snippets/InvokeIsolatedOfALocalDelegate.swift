// Calls on an actor need delegates that are `Sendable`: others stay where their hub is.

import Multicast

// expected-six-note@+1 {{class 'Listener' does not conform to the 'Sendable' protocol}}
nonisolated final class Listener {
  var heard = 0
}

nonisolated func callElsewhere(_ hub: MulticastDelegate<Listener>) {
  // expected-six-error@+1 {{type 'Listener' does not conform to the 'Sendable' protocol}}
  hub.invokeIsolated { @MainActor in $0.heard += 1 }
}

// expected-six-note@+1 {{protocol 'Showing' does not conform to the 'Sendable' protocol}}
@MainActor protocol Showing: AnyObject {
  func show()
}

@MainActor func callHere(_ hub: MulticastDelegate<any Showing>) {
  hub.forEach { $0.show() }
  // expected-six-error@+1 {{type 'any Showing' does not conform to the 'Sendable' protocol}}
  hub.invokeIsolated { @MainActor in $0.show() }
}
