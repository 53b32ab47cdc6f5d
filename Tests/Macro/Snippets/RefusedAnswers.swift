// Answers without a policy that fits: the diagnostic says which to choose.

import MulticastMacros

@Multicast
protocol NumberAnswer: AnyObject {
  // expected-error{{'Int' needs a policy for the answers of several delegates: write @Answer(.first, default: …), .last, .sum or .reduce(initial, combine)}}
  func numberOfRows() -> Int
}

@Multicast
protocol PropertyAnswer: AnyObject {
  // expected-error{{'String' needs a policy}}
  var title: String { get }
}

@Multicast
protocol SubscriptAnswer: AnyObject {
  // expected-error{{'Double' needs a policy}}
  subscript(index: Int) -> Double { get }
}

@Multicast
protocol TupleAnswer: AnyObject {
  // expected-error{{'(Int, Int)' needs a policy}}
  func size() -> (Int, Int)
}

@Multicast
protocol GenericAnswer: AnyObject {
  // expected-error{{'T' needs a policy}}
  func make<T>(_ type: T.Type) -> T
}

@Multicast
protocol AsyncAnswer: AnyObject {
  // expected-error{{'Int' needs a policy}}
  func size() async throws -> Int
}

@Multicast
protocol FirstWithoutDefault: AnyObject {
  // expected-error{{'.first' has no answer without delegates: add 'default:'}}
  @Answer(.first) func size() -> Int
}

@Multicast
protocol LastWithoutDefault: AnyObject {
  // expected-error{{'.last' has no answer without delegates: add 'default:'}}
  @Answer(.last) var title: String { get }
}

@Multicast
protocol SumOfBool: AnyObject {
  // expected-error{{'.sum' adds numbers, and this answer is 'Bool'}}
  @Answer(.sum) func isReady() -> Bool
}

@Multicast
protocol SumOfOptional: AnyObject {
  // expected-error{{'.sum' adds numbers, and this answer is 'Int?'}}
  @Answer(.sum) func size() -> Int?
}

@Multicast
protocol EveryNumber: AnyObject {
  // expected-error{{'.every' and '.some' combine Bool answers, and this one is 'Int'}}
  @Answer(.every) func size() -> Int
}

@Multicast
protocol SomeArray: AnyObject {
  // expected-error{{'.every' and '.some' combine Bool answers}}
  @Answer(.some) func names() -> [String]
}

@Multicast
protocol AllNumbers: AnyObject {
  // expected-error{{'.all' joins arrays, and this answer is 'Int'}}
  @Answer(.all) func size() -> Int
}

@Multicast
protocol PolicyOfNothing: AnyObject {
  // expected-error{{this requirement returns nothing, so it takes no policy and no default}}
  @Answer(.first) func start()
}

@Multicast
protocol DefaultOfNothing: AnyObject {
  // expected-error{{this requirement returns nothing}}
  @Answer(default: 3) func start()
}

@Multicast
protocol DefaultOfReduce: AnyObject {
  // expected-error{{'.reduce' returns its initial value without delegates: remove 'default:'}}
  @Answer(.reduce(0, +), default: 3) func size() -> Int
}

@Multicast
protocol ErrorsWithoutThrows: AnyObject {
  // expected-error{{this requirement throws no error: remove 'errors:'}}
  @Answer(errors: .afterAll) func start()
}

@Multicast
protocol ErrorsOfArguments: AnyObject {
  // expected-error{{a requirement that rethrows ends at the first error: remove 'errors:'}}
  @Answer(errors: .afterAll) func start(_ body: () throws -> Void) rethrows
}

@Multicast
protocol CallsWithoutAsync: AnyObject, Sendable {
  // expected-error{{this requirement is not async: remove 'calls:'}}
  @Answer(calls: .concurrent) func start()
}

@Multicast
protocol ConcurrentNotSendable: AnyObject {
  // expected-error{{concurrent calls leave the thread: make the protocol Sendable}}
  @Answer(calls: .concurrent) func start() async
}

@Multicast
protocol ConcurrentInout: AnyObject, Sendable {
  // expected-error{{an argument that lives only as long as the call cannot be used by concurrent calls}}
  @Answer(calls: .concurrent) func start(_ value: inout Int) async
}

@Multicast
protocol InlineAnswer: AnyObject {
  // expected-error{{a requirement with an answer is called on the calling thread anyway: remove '.inline'}}
  @Answer(.inline) func isReady() -> Bool
}

@Multicast
protocol TwoAnswers: AnyObject {
  // expected-error{{write one '@Answer' for a requirement}}
  @Answer(.every) @Answer(.some) func isReady() -> Bool
}

protocol WithoutMulticast: AnyObject {
  // expected-error{{'@Answer' belongs to a requirement of a protocol with '@Multicast'}}
  @Answer(.every) func isReady() -> Bool
}

let count = 3
let index = 4

func larger(_ left: Int, _ right: Int) -> Int { max(left, right) }

@Multicast
protocol NamedDefaults: AnyObject {
  // expected-error{{in the composite, 'count' is the member of the composite: write the type or the module before it, or rename it}}
  @Answer(.first, default: count) func size() -> Int
  // expected-error{{in the composite, 'index' is the parameter}}
  @Answer(.last, default: 2 * index) func height(ofRow index: Int) -> Int
  // expected-error{{in the composite, 'larger' is the parameter}}
  @Answer(.reduce(0, larger)) func best(larger: Int) -> Int
  @Answer(.reduce(0) { count, index in max(count, index) }) func priority(_ index: Int) -> Int
  @Answer(.first, default: Snippet.count) func width(_ count: Int) -> Int
  @Answer(.first, default: Int("1", radix: 10) ?? 0) func depth(radix: Int) -> Int
}

struct Size: Sendable {
  var width = 0
  var height = 0

  subscript(at index: Int) -> Int { index }
}

func measured(_ first: () -> Int, orElse second: () -> Int) -> Int { first() + second() }

@Multicast
protocol NamesOfAnswersThemselves: AnyObject {
  @Answer(
    .reduce(0) { a, b in
      let (low, high) = (a, b)
      return high - low
    })
  func tuple(low: Int, high: Int) -> Int
  @Answer(
    .reduce(0) { a, b in
      for part in [a, b] where part > 3 { return part }
      return a
    })
  func loop(part: Int) -> Int
  @Answer(
    .reduce(0) { a, b in
      if case let .some(part) = Optional(a) { return part }
      return b
    })
  func pattern(part: Int) -> Int
  @Answer(.first, default: Size.init(width:height:))
  func maker(width: Int, height: Int) -> (Int, Int) -> Size
  @Answer(
    .first,
    default: measured {
      1
    } orElse: {
      2
    })
  func trailing(orElse: Int) -> Int
  @Answer(.first, default: Size()[at: 3]) func element(at: Int) -> Int
}

@Multicast
protocol NamesThatLookLikeOthers: AnyObject {
  // expected-error{{in the composite, 'count' is the member of the composite}}
  @Answer(.first, default: Array(0...count)) func rows() -> [Int]
  // expected-error{{in the composite, 'index' is the parameter}}
  @Answer(.first, default: [0: 1, index: 2]) func heights(index: Int) -> [Int: Int]
  @Answer(
    .reduce(0) { a, b in
      // expected-error{{in the composite, 'index' is the parameter}}
      if let c = Optional(a), index > 3 { return c }
      return b
    })
  func best(index: Int) -> Int
}
