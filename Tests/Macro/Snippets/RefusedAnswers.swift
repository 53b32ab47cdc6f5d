// Answers without a policy that fits: the diagnostic says which to choose.

import MulticastMacros

@Multicast
protocol NumberAnswer: AnyObject {
  func numberOfRows() -> Int  // expected-error{{'Int' needs a policy for the answers of several delegates: write @Answer(.first, default: …), .last, .sum or .reduce(initial, combine)}}
}

@Multicast
protocol PropertyAnswer: AnyObject {
  var title: String { get }  // expected-error{{'String' needs a policy}}
}

@Multicast
protocol SubscriptAnswer: AnyObject {
  subscript(index: Int) -> Double { get }  // expected-error{{'Double' needs a policy}}
}

@Multicast
protocol TupleAnswer: AnyObject {
  func size() -> (Int, Int)  // expected-error{{'(Int, Int)' needs a policy}}
}

@Multicast
protocol GenericAnswer: AnyObject {
  func make<T>(_ type: T.Type) -> T  // expected-error{{'T' needs a policy}}
}

@Multicast
protocol AsyncAnswer: AnyObject {
  func size() async throws -> Int  // expected-error{{'Int' needs a policy}}
}

@Multicast
protocol FirstWithoutDefault: AnyObject {
  @Answer(.first) func size() -> Int  // expected-error{{'.first' has no answer without delegates: add 'default:'}}
}

@Multicast
protocol LastWithoutDefault: AnyObject {
  @Answer(.last) var title: String { get }  // expected-error{{'.last' has no answer without delegates: add 'default:'}}
}

@Multicast
protocol SumOfBool: AnyObject {
  @Answer(.sum) func isReady() -> Bool  // expected-error{{'.sum' adds numbers, and this answer is 'Bool'}}
}

@Multicast
protocol SumOfOptional: AnyObject {
  @Answer(.sum) func size() -> Int?  // expected-error{{'.sum' adds numbers, and this answer is 'Int?'}}
}

@Multicast
protocol EveryNumber: AnyObject {
  @Answer(.every) func size() -> Int  // expected-error{{'.every' and '.some' combine Bool answers, and this one is 'Int'}}
}

@Multicast
protocol SomeArray: AnyObject {
  @Answer(.some) func names() -> [String]  // expected-error{{'.every' and '.some' combine Bool answers}}
}

@Multicast
protocol AllNumbers: AnyObject {
  @Answer(.all) func size() -> Int  // expected-error{{'.all' joins arrays, and this answer is 'Int'}}
}

@Multicast
protocol PolicyOfNothing: AnyObject {
  @Answer(.first) func start()  // expected-error{{this requirement returns nothing, so it takes no policy and no default}}
}

@Multicast
protocol DefaultOfNothing: AnyObject {
  @Answer(default: 3) func start()  // expected-error{{this requirement returns nothing}}
}

@Multicast
protocol DefaultOfReduce: AnyObject {
  @Answer(.reduce(0, +), default: 3) func size() -> Int  // expected-error{{'.reduce' returns its initial value without delegates: remove 'default:'}}
}

@Multicast
protocol ErrorsWithoutThrows: AnyObject {
  @Answer(errors: .afterAll) func start()  // expected-error{{this requirement throws no error: remove 'errors:'}}
}

@Multicast
protocol CallsWithoutAsync: AnyObject, Sendable {
  @Answer(calls: .concurrent) func start()  // expected-error{{this requirement is not async: remove 'calls:'}}
}

@Multicast
protocol ConcurrentNotSendable: AnyObject {
  @Answer(calls: .concurrent) func start() async  // expected-error{{concurrent calls leave the thread: make the protocol Sendable}}
}

@Multicast
protocol ConcurrentInout: AnyObject, Sendable {
  @Answer(calls: .concurrent) func start(_ value: inout Int) async  // expected-error{{an argument that lives only as long as the call cannot be used by concurrent calls}}
}

@Multicast
protocol InlineAnswer: AnyObject {
  @Answer(.inline) func isReady() -> Bool  // expected-error{{a requirement with an answer is called on the calling thread anyway: remove '.inline'}}
}

@Multicast
protocol TwoAnswers: AnyObject {
  @Answer(.every) @Answer(.some) func isReady() -> Bool  // expected-error{{write one '@Answer' for a requirement}}
}

protocol WithoutMulticast: AnyObject {
  @Answer(.every) func isReady() -> Bool  // expected-error{{'@Answer' belongs to a requirement of a protocol with '@Multicast'}}
}
