// Any thread can use a registration of a `Sendable` delegate.

import Multicast

protocol Listening: AnyObject, Sendable {
  func hear(_ word: String)
}

final class Listener: Listening {
  func hear(_ word: String) {}
}

struct Box: Sendable {
  let registration: Registration<any Listening>
  let hub: MulticastDelegate<any Listening>
}

func cancelElsewhere(_ hub: MulticastDelegate<any Listening>, _ listener: Listener) async {
  let box = Box(registration: hub.add(listener), hub: hub)
  await Task.detached { box.registration.cancel() }.value
  await box.registration.cancelAndWait()
}

func passOn(
  _ hub: MulticastDelegate<any Listening>, _ body: (any Listening) throws -> Void
) rethrows {
  try hub.forEach(body)
}
