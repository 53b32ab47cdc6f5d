// A function that rethrows can pass its closure to every function that calls on the calling thread.

import Multicast

protocol Listening: AnyObject {
  func hear(_ word: String)
}

protocol Other {}

func each(
  _ hub: MulticastDelegate<any Listening>, _ body: (any Listening) throws -> Void
) rethrows {
  try hub.forEach(body)
}

func eachOther(_ hub: MulticastDelegate<any Listening>, _ body: (any Other) throws -> Void) rethrows
{
  try hub.forEach(as: (any Other).self, body)
}

func first(
  _ hub: MulticastDelegate<any Listening>, _ body: (any Listening) throws -> Int?
) rethrows -> Int? {
  try hub.firstResult(body)
}

func last(
  _ hub: MulticastDelegate<any Listening>, _ body: (any Listening) throws -> Int?
) rethrows -> Int? {
  try hub.lastResult(body)
}

func typed<E: Error>(
  _ hub: MulticastDelegate<any Listening>, _ body: (any Listening) throws(E) -> Void
) throws(E) {
  try hub.forEach(throwing: E.self, body)
}

func withoutTry(_ hub: MulticastDelegate<any Listening>) {
  hub.forEach { $0.hear("a") }
  each(hub) { $0.hear("b") }
}
