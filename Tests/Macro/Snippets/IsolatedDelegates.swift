// Delegates that are not Sendable belong to the actor of their composite from then on.

import Multicast
import MulticastMacros

@Multicast @MainActor
protocol Listener: AnyObject {
  func hear()
}

/// Belongs to no actor; only the calls of its protocol do.
final class Recorder {
  var count = 0
}

extension Recorder: Listener {
  func hear() { count += 1 }
}

@MainActor
func useAfterAdd(_ composite: MulticastListener) {
  let recorder = Recorder()
  composite.add(recorder)
  // expected-error{{passing closure as a 'sending' parameter risks causing data races between main actor-isolated code}}
  Task.detached { recorder.count += 1 }
}

@MainActor
func useAfterOperator(_ composite: MulticastListener) {
  let recorder = Recorder()
  composite += recorder
  // expected-error{{passing closure as a 'sending' parameter risks causing data races between main actor-isolated code}}
  Task.detached { recorder.count += 1 }
}

@MainActor
func useAfterInitialization() {
  let recorder = Recorder()
  let composite = MulticastListener([recorder])
  composite.hear()
  // expected-error{{passing closure as a 'sending' parameter risks causing data races between main actor-isolated code}}
  Task.detached { recorder.count += 1 }
}

@MainActor
func useAfterAddToHub(_ hub: MulticastDelegate<any Listener>) {
  let recorder = Recorder()
  hub.add(recorder)
  hub ~> { $0.hear() }
  // expected-error{{passing closure as a 'sending' parameter risks causing data races between main actor-isolated code}}
  Task.detached { recorder.count += 1 }
}

@MainActor
func useAfterInvoke() {
  let recorder = Recorder()
  let hub = MulticastDelegate<any Listener>()
  hub.add(recorder)
  hub ~> { $0.hear() }
  // expected-error{{passing closure as a 'sending' parameter risks causing data races between main actor-isolated code}}
  Task.detached { recorder.count += 1 }
}

func invokeComposite(_ composite: MulticastListener) {
  composite.invoke { $0.hear() }
}

// The actor and the sendability of a refined protocol, which the macro does not see.

@Multicast
protocol RefinedListener: Listener {
  func listen()
}

extension Recorder: RefinedListener {
  func listen() {}
}

@MainActor
func useAfterAddToRefined(_ composite: MulticastRefinedListener) {
  let recorder = Recorder()
  composite.add(recorder)
  // expected-error{{passing closure as a 'sending' parameter risks causing data races between main actor-isolated code}}
  Task.detached { recorder.count += 1 }
}

@Multicast @MainActor
protocol Observer: AnyObject, Sendable {
  func observe()
}

@Multicast
protocol RefinedObserver: Observer {
  func look()
}

func useSendableDelegates(_ composite: MulticastRefinedObserver, _ delegate: any RefinedObserver) {
  composite.add(delegate)
  composite += delegate
}
