// Arguments that must not leave the thread: the message is that of the macro, and there is no
// other.

import MulticastMacros

final class Request {}

// expected-expansion-error{{an argument of this requirement is not Sendable and cannot be delivered on a delegate's queue}}
@Multicast
protocol Sender: AnyObject, Sendable {
  func send(_ request: Request)
}

// expected-expansion-error{{an argument of this requirement is not Sendable}}
@Multicast
protocol PairSender: AnyObject, Sendable {
  func send(_ request: Request, count: Int)
}

// expected-expansion-error{{an argument of this requirement is not Sendable}}
@Multicast
protocol GenericSender: AnyObject, Sendable {
  func send<T>(_ value: T)
}

// expected-expansion-error{{an argument of this requirement is not Sendable}}
@Multicast
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

// expected-expansion-error{{an argument of this requirement is not Sendable and cannot be passed to other actors}}
@Multicast
protocol ActorSender: Actor {
  func send(_ request: Request)
}

// expected-expansion-error{{an argument of this requirement is not Sendable and cannot be passed to other actors}}
@Multicast
protocol AsyncActorSender: Actor {
  func send(_ request: Request) async
}
