// A registration of a delegate that is not `Sendable` is no part of a `Sendable` type.

import Multicast

protocol Listening: AnyObject {  // expected-note{{does not conform to the 'Sendable' protocol}}
  func hear(_ word: String)
}

struct Box: Sendable {
  // expected-error@+1 {{contains non-Sendable type 'any Listening'}}
  let registration: Registration<any Listening>
}
