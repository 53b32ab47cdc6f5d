// Who adds delegates that are not Sendable, or calls them through a hub, is on their actor.

import Multicast
import MulticastMacros

@Multicast @MainActor
protocol Listener: AnyObject {
  func hear()
}

func addElsewhere(_ composite: MulticastListener, _ delegate: any Listener) {
  // expected-error{{call to main actor-isolated instance method}}
  composite.add(delegate)
}

func invokeElsewhere(_ hub: MulticastDelegate<any Listener>) {
  // expected-error{{call to main actor-isolated operator function '~>' in a synchronous nonisolated context}}
  hub ~> { $0.hear() }
}

func addElsewhereByOperator(_ composite: MulticastListener, _ delegate: any Listener) {
  // expected-error{{call to main actor-isolated operator function '+=' in a synchronous nonisolated context}}
  composite += delegate
}

@Multicast @MainActor
protocol Observer: AnyObject, Sendable {
  func observe()
}

func useSendableDelegates(
  _ composite: MulticastObserver, _ hub: MulticastDelegate<any Observer>, _ delegate: any Observer
) {
  composite.add(delegate)
  composite += delegate
  hub ~> { $0.observe() }
}
