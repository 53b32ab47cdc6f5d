// Another thread cannot use a registration of a delegate that is not `Sendable`: ending it there
// could destroy the delegate there.

import Multicast

nonisolated protocol Listening: AnyObject {
  func hear(_ word: String)
}

nonisolated final class Listener: Listening {
  var heard = 0

  func hear(_ word: String) { heard += 1 }
}

nonisolated func cancelElsewhere() {
  let hub = MulticastDelegate<any Listening>()
  let listener = Listener()
  let registration = hub.add(listener, ownership: .strong)
  // expected-six-error@+2 {{() async -> ()' risks causing data races}}
  // expected-six-note@+1 {{risks causing races in between local and caller code}}
  Task.detached { registration.cancel() }
  listener.hear("a")  // expected-six-note{{access can happen concurrently}}
}

nonisolated func readElsewhere() async {
  let hub = MulticastDelegate<Listener>()
  let listener = Listener()
  let registration = hub.add(listener)
  // expected-six-error@+2 {{sending 'registration' risks causing data races}}
  // expected-six-note@+1 {{risks causing data races between async let uses and local uses}}
  async let isActive = registration.isActive
  listener.hear("a")  // expected-six-note{{access can happen concurrently}}
  _ = await isActive
}

nonisolated func stayOnOneThread() -> Int {
  let hub = MulticastDelegate<any Listening>()
  let listener = Listener()
  let registration = hub.add(listener)
  hub.forEach { $0.hear("a") }
  registration.cancel()
  return listener.heard
}

nonisolated func sendBoth() {
  let hub = MulticastDelegate<any Listening>()
  let registration = hub.add(Listener(), ownership: .strong)
  Task.detached {
    hub.forEach { $0.hear("a") }
    registration.cancel()
  }
}
