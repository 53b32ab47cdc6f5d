// Types of the user that are named like those of the standard library, generic arguments with
// commas, and parameters that are named like variables of a composite.

import Multicast
import MulticastMacros

struct Box<First, Second> {}

class ItSelf {
  typealias Item = Int
}

struct Item: Sendable {}

enum String {}
struct Bool {}
typealias Void = Int
struct ObjectIdentifier {}

@Multicast
protocol Answering: AnyObject, Sendable, Hashable, CustomStringConvertible {
  @Answer(.first, default: Dictionary<Int, [Int]>())
  func table() -> [Int: [Int]]

  @Answer(.reduce(Box<Int, Box<Int, Int>>(), { $1 }))
  func box() -> Box<Int, Box<Int, Int>>

  @Answer(.first, default: InlineArray<2, Int>(repeating: 0))
  func array() -> InlineArray<2, Int>

  @Answer(MulticastMacros.AnswerPolicy.last)
  func number() -> Int?

  @Answer(errors: .afterAll)
  func check() throws
}

@Multicast
protocol Receiver: Actor {
  func receive(arguments1: Item, arguments: Item) async
}

@Multicast @MainActor
protocol View<Element>: AnyObject where Self.Element: Equatable, ItSelf.Item: Equatable {
  associatedtype Element
  func show(_ element: Element)
}

@Multicast
protocol Delegate: AnyObject {
  func start()
  func next() -> (any Delegate)?
  func later() async -> (any Delegate)?
  @Answer(errors: .afterAll) func all() async throws -> [any Delegate]
}

@Multicast
protocol ChildDelegate: Delegate {
  func stop()
}

func use(_ composite: MulticastDelegate, _ child: MulticastChildDelegate) {
  composite.start()
  child.start()
  composite.add(child)
}

// Labels in backticks, most of which need none at a call.
@Multicast
nonisolated protocol Escaped: AnyObject {
  func start(`some`: Int, `Type` type: Int, `actor`: Int, `where`: Int, `plain`: Int, `1st`: Int)
  subscript(`inout` value: Int, `a b` other: Int) -> Item? { get }
}
