public import MulticastMacros
import Testing

// Associated types.

@Multicast
protocol Sink<Item>: AnyObject {
  associatedtype Item
  func receive(_ item: Item)
  func last() -> Item?
  @Answer(.all) func all() -> [Item]
}

@Multicast
public protocol Cache<Key, Value>: AnyObject {
  associatedtype Key: Hashable
  associatedtype Value = Int
  func value(for key: Key) -> Value?
  subscript(key: Key) -> Value? { get set }
}

@Multicast
protocol Constrained<Element>: AnyObject where Element: Collection {
  associatedtype Element: Sendable where Element.Index == Int
  func receive(_ element: Self.Element, at index: Element.Index)
  @Answer(.sum) func count(_ element: Element) async throws -> Int
}

@Multicast
protocol SendableSink<Item>: AnyObject, Sendable {
  associatedtype Item: Sendable
  func receive(_ item: Item)
  func start()
  func compare(_ left: Item, _ right: Item) -> Bool
}

@Multicast
protocol RefinedSink<Item>: Sink {
  func clear()
}

@Multicast
protocol IntSink: Sink<Int> {
  func drain()
}

@Multicast
protocol ErrorSink: Sink<any Error> {
  func retry(_ again: @escaping () -> Void)
}

@Multicast
protocol FixedSink: Sink where Item: Sendable, Item == Int {
  func drain()
}

@Multicast
protocol BatchSink<Batch>: AnyObject where Batch.Element == Int {
  associatedtype Batch: Collection
  func sum(_ batch: Batch) -> Batch.Element?
}

@Multicast
protocol PairedSink<Batch, Item>: AnyObject where Batch.Element == Item {
  associatedtype Batch: Collection
  associatedtype Item
  func first(of batch: Batch) -> Item?
}

@Multicast
protocol ListSink<Element>: Sink where Item == [Element] {
  associatedtype Element
  func append(_ element: Element)
}

final class BatchRecorder: Recorder, BatchSink, PairedSink, @unchecked Sendable {
  func sum(_ batch: [Int]) -> Int? { batch.reduce(0, +) }
  func first(of batch: [Int]) -> Int? { batch.first }
}

final class ListRecorder: Recorder, ListSink, @unchecked Sendable {
  func append(_ element: Int) { note("append \(element)") }
  func receive(_ item: [Int]) { note("\(item)") }
  func last() -> [Int]? { [id] }
  func all() -> [[Int]] { [[id]] }
}

@Multicast
protocol GenericAliases: AnyObject {
  typealias Pair<Value> = (Value, Value)
  typealias Table<Key> = [Key: Int] where Key: Hashable
  func sum(_ pair: Pair<Int>) -> Int?
  func table() -> Table<Int>?
}

final class AliasRecorder: Recorder, GenericAliases, @unchecked Sendable {
  func sum(_ pair: (Int, Int)) -> Int? { pair.0 + pair.1 }
  func table() -> [Int: Int]? { [1: id] }
}

final class SinkRecorder: Recorder, Sink, SendableSink, RefinedSink, IntSink, FixedSink,
  @unchecked Sendable
{
  func receive(_ item: Int) { note("\(item)") }
  func last() -> Int? { id == 1 ? nil : id }
  func all() -> [Int] { [id] }
  func start() { note("start") }
  func compare(_ left: Int, _ right: Int) -> Bool { left == right }
  func clear() { note("clear") }
  func drain() { note("drain") }
}

final class ConstrainedRecorder: Recorder, Constrained, @unchecked Sendable {
  func receive(_ element: [Int], at index: Int) { note("\(element[index])") }
  func count(_ element: [Int]) async throws -> Int { element.count }
}

@Suite("Corpus: associated types")
struct AssociatedTypeCorpus {
  @Test func primary() {
    let (first, second, log) = pair(SinkRecorder.self)
    let composite = MulticastSink<Int>([first, second])
    composite.receive(3)
    #expect(log.take() == both("3"))
    #expect(composite.last() == 2 && composite.all() == [1, 2])
    let existential: any Sink<Int> = composite
    existential.receive(4)
    #expect(log.take() == both("4"))
  }

  @Test func constrained() async throws {
    let (first, second, log) = pair(ConstrainedRecorder.self)
    let composite = MulticastConstrained<[Int]>([first, second])
    composite.receive([5, 6], at: 1)
    #expect(log.take() == both("6"))
    #expect(try await composite.count([1, 2]) == 4)
  }

  @Test func sendable() {
    let (first, second, log) = pair(SinkRecorder.self)
    let composite = MulticastSendableSink<Int>([first, second])
    composite.receive(3)
    composite.start()
    #expect(log.take() == both("3") + both("start"))
    #expect(composite.compare(1, 1))
  }

  @Test func refined() {
    let (first, second, log) = pair(SinkRecorder.self)
    let composite = MulticastRefinedSink<Int>([first, second])
    composite.receive(1)
    composite.clear()
    #expect(log.take() == both("1") + both("clear"))
  }

  @Test("a type that a refining protocol fixes is no parameter of its composite")
  func fixed() {
    let (first, second, log) = pair(SinkRecorder.self)
    for composite in [MulticastIntSink([first, second]), MulticastFixedSink([first, second])]
      as [any Sink<Int>]
    {
      composite.receive(1)
      #expect(composite.last() == 2 && composite.all() == [1, 2])
    }
    MulticastIntSink([first, second]).drain()
    #expect(log.take() == both("1") + both("1") + both("drain"))
  }

  @Test("a constraint may fix a member of a parameter, and an inherited type")
  func fixedMembers() {
    let (first, second, _) = pair(BatchRecorder.self)
    #expect(MulticastBatchSink<[Int]>([first, second]).sum([1, 2]) == 3)
    #expect(MulticastPairedSink<[Int], Int>([first, second]).first(of: [4]) == 4)
    let (third, fourth, log) = pair(ListRecorder.self)
    let list = MulticastListSink<Int>([third, fourth])
    list.append(5)
    list.receive([6])
    #expect(log.take() == both("append 5") + both("[6]") && list.all() == [[1], [2]])
  }

  @Test func genericAliases() {
    let (first, second, _) = pair(AliasRecorder.self)
    let composite = MulticastGenericAliases([first, second])
    #expect(composite.sum((1, 2)) == 3 && composite.table() == [1: 1])
  }
}
