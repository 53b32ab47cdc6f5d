// Requirements that cannot be forwarded: one diagnostic each, at its place.

import MulticastMacros

@Multicast
protocol StaticFunction: AnyObject {
  static func make() -> String?  // expected-error{{a static requirement belongs to a type and cannot be forwarded to delegates}}
}

@Multicast
protocol StaticProperty: AnyObject {
  static var shared: String? { get }  // expected-error{{a static requirement belongs to a type}}
}

@Multicast
protocol Operator {
  static func == (left: Self, right: Self) -> Bool  // expected-error{{an operator belongs to a type and cannot be forwarded}}
}

@Multicast
protocol PrefixOperator {
  static prefix func - (value: Self) -> Self  // expected-error{{an operator belongs to a type and cannot be forwarded}}
}

@Multicast
protocol Initializer: AnyObject {
  init(name: String)  // expected-error{{an initializer cannot be forwarded to delegates that exist}}
}

@Multicast
protocol FailableInitializer: AnyObject {
  init?(name: String)  // expected-error{{an initializer cannot be forwarded}}
}

@Multicast
protocol Mutating {
  mutating func increment()  // expected-error{{a mutating requirement would change a copy of each delegate: make the protocol AnyObject and remove 'mutating'}}
}

@Multicast
protocol Setter {
  var name: String? { get set }  // expected-error{{setting it would change a copy of each delegate: make the protocol AnyObject}}
}

@Multicast
protocol SubscriptSetter {
  subscript(index: Int) -> String? { get set }  // expected-error{{setting it would change a copy of each delegate}}
}

@Multicast
protocol MutatingGetter {
  var name: String? { mutating get }  // expected-error{{a mutating getter would change a copy of each delegate: remove 'mutating'}}
}

@Multicast
protocol Variadic: AnyObject {
  func log(_ values: Any...)  // expected-error{{variadic arguments cannot be forwarded: take an array}}
}

@Multicast
protocol SelfParameter: AnyObject {
  func isSame(_ other: Self) -> Bool  // expected-error{{'Self' is another type in each delegate: write 'any SelfParameter'}}
}

@Multicast
protocol SelfResult: AnyObject {
  func copy() -> Self  // expected-error{{'Self' is another type in each delegate}}
}

@Multicast
protocol SelfProperty: AnyObject {
  var next: Self? { get }  // expected-error{{'Self' is another type in each delegate}}
}

@Multicast
protocol SelfInClosure: AnyObject {
  func finish(_ body: (Self) -> Void)  // expected-error{{'Self' is another type in each delegate}}
}

@Multicast
protocol Consumed: AnyObject {
  func take<T: ~Copyable>(_ value: consuming T)  // expected-error{{one value cannot be consumed by several delegates: write 'borrowing'}}
}

@Multicast
protocol Endless: AnyObject {
  func stop() -> Never  // expected-error{{a requirement that never returns cannot be forwarded to several delegates}}
}

@Multicast
protocol NotPrimary: AnyObject {
  associatedtype Item  // expected-error{{an associated type must be the same for all delegates: make it primary, 'protocol NotPrimary<Item>'}}
  func receive(_ item: Item)
}

@Multicast
protocol HalfPrimary<Key>: AnyObject {
  associatedtype Key
  associatedtype Value  // expected-error{{make it primary, 'protocol HalfPrimary<Key, Value>'}}
  func value(for key: Key) -> Value?
}

@Multicast
protocol FixedType<Item>: AnyObject where Item == Int {  // expected-error{{a primary associated type that is fixed cannot be a parameter of the composite}}
  associatedtype Item
}

@Multicast
protocol Noncopyable: ~Copyable {  // expected-error{{a hub holds delegates that can be copied and escape: remove '~Copyable'}}
  func start()
}

@MainActor
@Multicast
protocol NonisolatedMember: AnyObject {
  nonisolated func log()  // expected-error{{a nonisolated requirement of an isolated protocol reaches the delegates from any thread: make the protocol Sendable}}
}

@Multicast
protocol EscapingClosure: AnyObject, Sendable {
  func load(then body: @escaping () -> Void)  // expected-error{{this closure cannot be delivered on a delegate's queue: write '@Sendable', or @Answer(.inline)}}
}

@Multicast
protocol Several: AnyObject {
  static func a()  // expected-error{{a static requirement}}
  func b()
  init()  // expected-error{{an initializer cannot be forwarded}}
  func c() -> Int  // expected-error{{'Int' needs a policy}}
}
