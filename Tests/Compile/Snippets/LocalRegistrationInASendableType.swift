// A `Sendable` type cannot contain a registration of a delegate that is not `Sendable`.

import Multicast

// expected-note@+1 {{does not conform to the 'Sendable' protocol}}
nonisolated protocol Listening: AnyObject {
  func hear(_ word: String)
}

nonisolated struct Box: Sendable {
  // expected-five-warning@+2 {{contains non-Sendable type 'any Listening'}}
  // expected-six-error@+1 {{contains non-Sendable type 'any Listening'}}
  let registration: Registration<any Listening>
}
