// A `Sendable` type cannot contain a registration of a delegate that is not `Sendable`.

import Multicast

protocol Listening: AnyObject {  // expected-note{{does not conform to the 'Sendable' protocol}}
  func hear(_ word: String)
}

struct Box: Sendable {
  // expected-error@+1 {{contains non-Sendable type 'any Listening'}}
  let registration: Registration<any Listening>
}
