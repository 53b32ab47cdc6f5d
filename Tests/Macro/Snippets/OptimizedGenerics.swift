// Compiled with optimization: arguments of generic types, some of them in tuples.

import MulticastMacros

@Multicast
public protocol OptimizedGenerics: AnyObject, Sendable {
  func two<T: Sendable>(_ value: T, count: Int)
  func some(_ value: some Hashable & Sendable, _ other: any Sendable)
  func optional<T: Sendable>(_ value: T?, _ other: [T])
  func tuple<T: Sendable>(_ pair: (T, Int))
  func consume<T: Sendable>(_ value: consuming T, count: Int)
  func send<T: Sendable>(_ value: sending T, count: Int)
  subscript<T: Sendable>(key: T) -> Int? { get set }
}

@Multicast
public protocol OptimizedItems<Item>: AnyObject, Sendable {
  associatedtype Item: Sendable
  func receive(_ item: Item, count: Int)
  subscript(item: Item) -> Int? { get set }
}

@Multicast
public protocol OptimizedValues<Item>: Sendable {
  associatedtype Item: Sendable
  func receive(_ item: Item, count: Int)
}
