import MulticastMacros
import Testing

// Requirements that name what is declared beside a nested protocol, without the type around it.

enum Warehouse {
  struct Shelf: Hashable, Sendable { var number = 0 }
  typealias Weight = Int
  struct Crate<Content, Label> { var content: Content }
  protocol Ware: Sendable {}
  enum Error: Swift.Error { case full }
  enum Decision: Sendable { case accept, refuse }
  static var standardShelf: Shelf { Shelf(number: 9) }
  static func heavier(_ left: Weight, _ right: Weight) -> Weight { max(left, right) }

  @Multicast
  protocol Observer<Item>: AnyObject {
    associatedtype Item: Ware
    func move(_ item: Item, from shelf: Shelf, to other: Warehouse.Shelf, _ weight: Weight)
    func store(_ ware: some Ware, _ any: any Ware, in crate: Crate<Self.Item, Shelf>) throws(Error)
    func sort(
      _ wares: [Shelf: Item]?, _ pair: (Shelf: Shelf, Weight),
      by rule: @escaping (_ Shelf: Shelf) -> Decision)
    func count<Place: Ware, Key>(_ place: Place, _ table: [Key: Shelf]) where Key: Hashable
    func watch(_ others: [any Observer<Item>])
    @Answer(.first, default: Decision.refuse) func decide() -> Decision
    @Answer(.last, default: standardShelf) var shelf: Shelf { get async }
    @Answer(.reduce(Weight.zero, heavier)) func heaviest() -> Weight
    @Answer(.reduce(1) { $0 * $1 }) func product() async throws(Error) -> Weight
    @Answer(.first, default: Warehouse.Decision.accept) subscript(_ shelf: Shelf) -> Decision {
      get set
    }
    #if os(Linux)
      @Answer(.first, default: Shelf(number: 5)) func linux(_ shelf: Shelf) -> Shelf
    #elseif NEVER
      func other(_ shelf: Missing)
    #endif
  }

  @Multicast
  protocol Auditor<Item>: Observer where Item: Ware {
    func audit(_ shelf: Shelf)
  }

  @Multicast @MainActor
  protocol View: AnyObject, Sendable {
    @Answer(.first, default: Decision.accept) nonisolated func decide() -> Decision
    @Answer(.first, default: standardShelf) func shelf(_ shelf: Shelf) -> Shelf
  }

  @Multicast
  protocol Robot: Actor {
    func lift(_ shelf: Shelf)
    @Answer(.first, default: Decision.accept) func decide() async -> Decision
  }

  @Multicast
  protocol FastRobot: Robot, Actor {}
}

/// Types whose names are similar, or look like no type.
enum Atlas {
  struct Point: Sendable { var x = 0 }
  struct Point1: Sendable {}
  struct Kit { struct Item: Sendable {} }
  struct Kit_Item: Sendable {}
  struct _Payload: Sendable {}
  struct `My Type (new)`: Sendable {}
  struct 値: Sendable {}
  struct point: Sendable { struct inner: Sendable {} }
  struct `some`: Sendable {}

  @Multicast
  protocol 地図<item>: AnyObject {
    associatedtype item
    func f0(_ point1: Point1, _ kit: Kit.Item, _ kit_item: Kit_Item)
    func f1(_ payload: _Payload, value: 値, _ raw: `My Type (new)`?)
    func f2(_ point: point, inner: point.inner, _ item: item, _ items: [Self.item])
    func f3(_ body: @escaping @convention(c) (_ x: Int, _ y: Int) -> Void, _ any: any Sendable)
    func f4(_ body: @escaping @isolated(any) @Sendable (inout point, Point) async throws -> 値)
    func f5(_ body: nonisolated(nonsending) @escaping (point.Type) async -> (point: point, Int))
    func f6(_ words: `some`, _ consumed: consuming 値, _ sent: sending point)
    func f7<each `raw name`: Sendable>(_ pack: repeat each `raw name`, last: point)
    func f8<`raw name`: Sendable>(_ value: `raw name`, _ others: some Collection<point>)
    func f9()
    func f10(_ point: Point)
  }

  @Multicast
  protocol 世界地図<item>: 地図 {
    func turn(_ point: point)
  }
}

private final class AtlasRecorder: Recorder, Atlas.世界地図, @unchecked Sendable {
  typealias point = Atlas.point
  func f0(_ point1: Atlas.Point1, _ kit: Atlas.Kit.Item, _ kit_item: Atlas.Kit_Item) { note("f0") }
  func f1(_ payload: Atlas._Payload, value: Atlas.値, _ raw: Atlas.`My Type (new)`?) { note("f1") }
  func f2(_ point: point, inner: point.inner, _ item: Int, _ items: [Int]) { note("f2 \(item)") }
  func f3(_ body: @escaping @convention(c) (_ x: Int, _ y: Int) -> Void, _ any: any Sendable) {}
  func f4(
    _ body: @escaping @isolated(any) @Sendable (inout point, Atlas.Point) async throws -> Atlas.値
  ) {}
  func f5(
    _ body: nonisolated(nonsending) @escaping (point.Type) async -> (point: point, Int)
  ) {}
  func f6(_ words: Atlas.`some`, _ consumed: consuming Atlas.値, _ sent: sending point) {}
  func f7<each T: Sendable>(_ pack: repeat each T, last: point) { note("f7") }
  func f8<T: Sendable>(_ value: T, _ others: some Collection<point>) { note("f8 \(others.count)") }
  func f9() {}
  func f10(_ point: Atlas.Point) { note("f10 \(point.x)") }
  func turn(_ point: point) { note("turn") }
}

private struct Bottle: Warehouse.Ware {}

private final class AuditRecorder: Recorder, Warehouse.Auditor, @unchecked Sendable {
  typealias Shelf = Warehouse.Shelf
  typealias Item = Bottle
  func move(_ item: Bottle, from shelf: Shelf, to other: Shelf, _ weight: Int) {
    note("move \(shelf.number) \(other.number) \(weight)")
  }
  func store(
    _ ware: some Warehouse.Ware, _ any: any Warehouse.Ware, in crate: Warehouse.Crate<Bottle, Shelf>
  ) throws(Warehouse.Error) {
    throw .full
  }
  func sort(
    _ wares: [Shelf: Bottle]?, _ pair: (Shelf: Shelf, Int),
    by rule: @escaping (_ Shelf: Shelf) -> Warehouse.Decision
  ) {
    note("sort \(rule(pair.Shelf))")
  }
  func count<Place: Warehouse.Ware, Key: Hashable>(_ place: Place, _ table: [Key: Shelf]) {
    note("count \(table.count)")
  }
  func watch(_ others: [any Warehouse.Observer<Bottle>]) { note("watch \(others.count)") }
  func decide() -> Warehouse.Decision { id == 1 ? .accept : .refuse }
  var shelf: Shelf { get async { Shelf(number: id) } }
  func heaviest() -> Int { id }
  func product() async throws(Warehouse.Error) -> Int { 10 * id }
  subscript(_ shelf: Shelf) -> Warehouse.Decision {
    get { .refuse }
    set { note("set \(shelf.number) \(newValue)") }
  }
  func linux(_ shelf: Shelf) -> Shelf { shelf }
  func audit(_ shelf: Shelf) { note("audit \(shelf.number)") }
}

@Suite("Corpus: types beside nested protocols")
struct NestedTypeCorpus {
  private typealias Shelf = Warehouse.Shelf

  @Test("the composites of a protocol, and of one that refines it, forward", arguments: [1, 2])
  func forwards(composite number: Int) async throws {
    let (first, second, log) = pair(AuditRecorder.self)
    let composite: any Warehouse.Observer<Bottle> =
      number == 1
      ? Warehouse.MulticastObserver<Bottle>([first, second])
      : Warehouse.MulticastAuditor<Bottle>([first, second])
    composite.move(Bottle(), from: Shelf(number: 1), to: Shelf(number: 2), 3)
    composite.sort(nil, (Shelf(), 1)) { _ in .refuse }
    composite.count(Bottle(), ["a": Shelf()])
    composite.watch([first])
    #expect(
      log.take() == both("move 1 2 3") + both("sort refuse") + both("count 1") + both("watch 1"))
    #expect(throws: Warehouse.Error.full) {
      try composite.store(Bottle(), Bottle(), in: Warehouse.Crate(content: Bottle()))
    }
    #expect(composite.decide() == .accept && composite.heaviest() == 2)
    composite[Shelf(number: 4)] = .accept
    #expect(composite[Shelf()] == .refuse && log.take() == both("set 4 accept"))
    #if os(Linux)
      #expect(composite.linux(Shelf(number: 6)).number == 6)
    #endif
  }

  @Test("the expressions of answers mean what they mean beside the protocol")
  func expressions() async throws {
    let empty = Warehouse.MulticastAuditor<Bottle>()
    #expect(empty.decide() == .refuse && empty.heaviest() == 0 && empty[Shelf()] == .accept)
    #expect(await empty.shelf.number == 9)
    #expect(try await empty.product() == 1)
    let (first, second, _) = pair(AuditRecorder.self)
    let full = Warehouse.MulticastAuditor<Bottle>([first, second])
    #expect(await full.shelf.number == 2)
    #expect(try await full.product() == 200)
    #expect(await Warehouse.MulticastView().shelf(Shelf()).number == 9)
    #expect(await Warehouse.MulticastFastRobot().decide() == .accept)
  }

  @Test("the names of the types may be similar, and need no capital letter", arguments: [1, 2])
  func names(composite number: Int) {
    let (first, second, log) = pair(AtlasRecorder.self)
    let composite: any Atlas.地図<Int> =
      number == 1
      ? Atlas.Multicast地図<Int>([first, second]) : Atlas.Multicast世界地図<Int>([first, second])
    composite.f0(Atlas.Point1(), Atlas.Kit.Item(), Atlas.Kit_Item())
    composite.f1(Atlas._Payload(), value: Atlas.値(), Atlas.`My Type (new)`())
    composite.f2(Atlas.point(), inner: Atlas.point.inner(), 1, [2])
    composite.f7(1, "a", last: Atlas.point())
    composite.f8(1, [Atlas.point()])
    composite.f10(Atlas.Point(x: 3))
    #expect(
      log.take() == both("f0") + both("f1") + both("f2 1") + both("f7") + both("f8 1")
        + both("f10 3"))
  }
}
