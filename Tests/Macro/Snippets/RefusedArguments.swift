// Arguments that must not leave the thread: the message is that of the macro, and there is no other.

import MulticastMacros

final class Request {}

@Multicast  // expected-expansion-error{{an argument of this requirement is not Sendable and cannot be delivered on a delegate's queue}}
protocol Sender: AnyObject, Sendable {
  func send(_ request: Request)
}

@Multicast  // expected-expansion-error{{an argument of this requirement is not Sendable}}
protocol PairSender: AnyObject, Sendable {
  func send(_ request: Request, count: Int)
}

@Multicast  // expected-expansion-error{{an argument of this requirement is not Sendable}}
protocol GenericSender: AnyObject, Sendable {
  func send<T>(_ value: T)
}

@Multicast  // expected-expansion-error{{an argument of this requirement is not Sendable}}
protocol PropertySender: AnyObject, Sendable {
  var request: Request? { get set }
}

@Multicast
protocol InlineSender: AnyObject, Sendable {
  @Answer(.inline) func send(_ request: Request)
  @Answer(.inline) func send<T>(value: T)
}

@Multicast
protocol LocalSender: AnyObject {
  func send(_ request: Request, to others: [Request])
}
