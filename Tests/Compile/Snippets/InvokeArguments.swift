// What can be passed to `invoke`, which takes an autoclosure, and what belongs before the call.

import Multicast

nonisolated protocol Listening: AnyObject, Sendable {
  func hear(_ word: String)
}

func pass(
  _ body: @escaping @Sendable (any Listening) -> Void, to hub: MulticastDelegate<any Listening>
) {
  hub.invoke(body)
  hub ~> body
  hub.invoke { $0.hear("a") }
  hub ~> { $0.hear("a") }
}

struct Speaker {
  let hub = MulticastDelegate<any Listening>()
  var word = "a"

  func speak() { hub.invoke { $0.hear(word) } }
  mutating func speakOnce() { hub.invoke { [word] in $0.hear(word) } }
}

nonisolated final class Radio {
  let hub: MulticastDelegate<any Listening>
  var word = "a"
  let last: String

  init() {
    hub = MulticastDelegate()
    hub.invoke { [word] in $0.hear(word) }
    last = "b"
    hub.invoke { [last] in $0.hear(last) }
  }

  deinit { hub.invoke { [word] in $0.hear(word) } }
}

@MainActor
final class View {
  let hub = MulticastDelegate<any Listening>()
  // expected-note@+1 {{property declared here}}
  var word = "a"

  init() { hub.invoke { [word] in $0.hear(word) } }

  func speak() { hub.invoke { [word] in $0.hear(word) } }

  deinit {
    // expected-error@+1 {{main actor-isolated property 'word' can not be referenced from a non}}
    hub.invoke { [word] in $0.hear(word) }
    let word = word
    hub.invoke { $0.hear(word) }
  }
}

actor Store {
  var loud: String { "A" }

  func speak(_ hub: MulticastDelegate<any Listening>) { hub.invoke { [loud] in $0.hear(loud) } }
}

func nextWord() async -> String { "a" }

func speak(_ hub: MulticastDelegate<any Listening>) async {
  // expected-error@+1 {{'async' call in an autoclosure that does not support concurrency}}
  hub.invoke { [word = await nextWord()] in $0.hear(word) }
  let word = await nextWord()
  hub.invoke { $0.hear(word) }
}

func word() throws -> String { "a" }

func speak(_ hub: MulticastDelegate<any Listening>) throws {
  // expected-error@+1 {{call can throw, but it is executed in a non-throwing autoclosure}}
  hub.invoke { [word = try word()] in $0.hear(word) }
  let word = try word()
  hub.invoke { $0.hear(word) }
}
