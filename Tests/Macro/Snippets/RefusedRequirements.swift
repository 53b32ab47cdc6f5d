// Requirements that cannot be forwarded: one diagnostic each, at its place.

import Distributed
import MulticastMacros

@Multicast
protocol StaticFunction: AnyObject {
  // expected-error{{a static requirement belongs to a type and cannot be forwarded to delegates}}
  static func make() -> String?
}

@Multicast
protocol StaticProperty: AnyObject {
  // expected-error{{a static requirement belongs to a type}}
  static var shared: String? { get }
}

@Multicast
protocol Operator {
  // expected-error{{an operator belongs to a type and cannot be forwarded}}
  static func == (left: Self, right: Self) -> Bool
}

@Multicast
protocol PrefixOperator {
  // expected-error{{an operator belongs to a type and cannot be forwarded}}
  static prefix func - (value: Self) -> Self
}

@Multicast
protocol Initializer: AnyObject {
  // expected-error{{an initializer cannot be forwarded to delegates that exist}}
  init(name: String)
}

@Multicast
protocol FailableInitializer: AnyObject {
  // expected-error{{an initializer cannot be forwarded}}
  init?(name: String)
}

@Multicast
protocol Mutating {
  // expected-error{{a mutating requirement would change a copy of each delegate: make the protocol AnyObject and remove 'mutating'}}
  mutating func increment()
}

@Multicast
protocol Setter {
  // expected-error{{setting it would change a copy of each delegate: make the protocol AnyObject}}
  var name: String? { get set }
}

@Multicast
protocol SubscriptSetter {
  // expected-error{{setting it would change a copy of each delegate}}
  subscript(index: Int) -> String? { get set }
}

@Multicast
protocol MutatingGetter {
  // expected-error{{a mutating getter would change a copy of each delegate: remove 'mutating'}}
  var name: String? { mutating get }
}

@Multicast
protocol TupleOfPack: AnyObject {
  // expected-error{{a tuple of a pack cannot be forwarded: make the pack a parameter}}
  func receive<each T: Sendable>(_ values: (repeat each T))
}

@Multicast
protocol OptionalTupleOfPack: AnyObject {
  // expected-error{{a tuple of a pack cannot be forwarded}}
  func receive<each T: Sendable>(_ values: ((repeat each T), Int)?)
}

@Multicast
protocol Variadic: AnyObject {
  // expected-error{{variadic arguments cannot be forwarded: take an array}}
  func log(_ values: Any...)
}

@Multicast
protocol SelfParameter: AnyObject {
  // expected-error{{'Self' is another type in each delegate: write 'any SelfParameter'}}
  func isSame(_ other: Self) -> Bool
}

@Multicast
protocol SelfResult: AnyObject {
  // expected-error{{'Self' is another type in each delegate}}
  func copy() -> Self
}

@Multicast
protocol SelfProperty: AnyObject {
  // expected-error{{'Self' is another type in each delegate}}
  var next: Self? { get }
}

@Multicast
protocol SelfInTuple<Item>: AnyObject {
  associatedtype Item
  // expected-error{{'Self' is another type in each delegate}}
  func pair(_ values: (Self.Item, Self))
}

@Multicast
protocol SelfBeforeItem<Item>: AnyObject {
  associatedtype Item
  // expected-error{{'Self' is another type in each delegate}}
  func pair(_ values: (Self, Item))
}

@Multicast
protocol FixedItem: Whole<Int> {
  func receive(_ item: Self.Item) -> Self.Item?
}

@Multicast
protocol Whole<Item>: AnyObject {
  associatedtype Item
}

@Multicast
protocol HalfFixed<Item>: AnyObject {
  associatedtype Item
  // expected-error{{'Self' is another type in each delegate}}
  func make(_ type: Self.Type)
}

@Multicast
protocol HiddenParameter<Item>: AnyObject {
  associatedtype Item
  // expected-error{{'Item' is a generic parameter of the composite too: rename it here}}
  func receive<Item>(_ item: Item)
}

@Multicast
protocol SelfInClosure: AnyObject {
  // expected-error{{'Self' is another type in each delegate}}
  func finish(_ body: (Self) -> Void)
}

@Multicast
protocol Consumed: AnyObject {
  // expected-error{{one value cannot be consumed by several delegates: write 'borrowing'}}
  func take<T: ~Copyable>(_ value: consuming T)
}

@Multicast
protocol Endless: AnyObject {
  // expected-error{{a requirement that never returns cannot be forwarded to several delegates}}
  func stop() -> Never
}

@Multicast
protocol NotPrimary: AnyObject {
  // expected-error{{an associated type must be the same for all delegates: make it primary, 'protocol NotPrimary<Item>'}}
  associatedtype Item
  func receive(_ item: Item)
}

@Multicast
protocol HalfPrimary<Key>: AnyObject {
  associatedtype Key
  // expected-error{{make it primary, 'protocol HalfPrimary<Key, Value>'}}
  associatedtype Value
  func value(for key: Key) -> Value?
}

@Multicast
// expected-error{{a primary associated type that is fixed cannot be a parameter of the composite}}
protocol FixedType<Item>: AnyObject where Item == Int {
  associatedtype Item
}

@Multicast
protocol FixedThere<Item>: AnyObject {
  // expected-error{{a primary associated type that is fixed cannot be a parameter of the composite}}
  associatedtype Item where Item == Int
  func receive(_ item: Item)
}

@Multicast
// expected-error{{a primary associated type that is fixed cannot be a parameter of the composite}}
protocol FixedByOther<Key, Value>: AnyObject where Key == [Value] {
  associatedtype Key
  associatedtype Value
}

@Multicast
// expected-error{{a hub holds delegates that can be copied and escape: remove '~Copyable'}}
protocol Noncopyable: ~Copyable {
  func start()
}

@MainActor
@Multicast
protocol NonisolatedMember: AnyObject {
  // expected-error{{a nonisolated requirement of an isolated protocol reaches the delegates from any thread: make the protocol Sendable}}
  nonisolated func log()
}

@MainActor
@Multicast
protocol ConcurrentMember: AnyObject {
  // expected-error{{a concurrent requirement of an isolated protocol leaves the actor of the delegates: make the protocol Sendable}}
  @concurrent func load() async
}

@Multicast
protocol EscapingClosure: AnyObject, Sendable {
  // expected-error{{this closure cannot be delivered on a delegate's queue: write '@Sendable', or @Answer(.inline)}}
  func load(then body: @escaping () -> Void)
}

@Multicast
protocol Several: AnyObject {
  // expected-error{{a static requirement}}
  static func a()
  func b()
  // expected-error{{an initializer cannot be forwarded}}
  init()
  // expected-error{{'Int' needs a policy}}
  func c() -> Int
}

@Multicast
protocol ActorAnswer: Actor {
  // expected-error{{each delegate is an actor of its own, so its answer must be awaited: make the requirement async}}
  func isReady() -> Bool
}

@Multicast
protocol ActorProperty: Actor {
  // expected-error{{so its answer must be awaited: make the requirement async}}
  var name: String? { get }
}

@Multicast
protocol ActorThrows: Actor {
  // expected-error{{so its answer must be awaited: make the requirement async}}
  func start() throws
}

@Multicast
protocol ActorInout: Actor {
  // expected-error{{an argument that lives only as long as the call cannot be passed to other actors}}
  func change(_ value: inout Int)
}

@Multicast
// expected-error{{several delegates have no common value: a composite cannot be 'Codable', so remove it}}
protocol Encoded: AnyObject, Codable {
  func start()
}

@Multicast
// expected-error{{several delegates have no common value: a composite cannot be 'Comparable'}}
protocol Ordered: Comparable {
  func start()
}

@Multicast
// expected-error{{a composite is no distributed actor: remove 'DistributedActor'; a distributed actor can}}
protocol Remote: DistributedActor {
  func start() async throws
}

@Multicast
protocol Located: Sendable {
  func start() async throws
}

distributed actor Place: Located {
  typealias ActorSystem = LocalTestingDistributedActorSystem

  distributed func start() async throws {}
}
