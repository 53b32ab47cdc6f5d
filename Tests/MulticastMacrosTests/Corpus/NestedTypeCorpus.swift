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

private class Delegate {}

@Multicast
private protocol Manager: AnyObject {
  func manage(_ delegate: Delegate, _ others: [Delegate]) -> Bool
}

@Multicast
private protocol Director: Manager {
  func direct()
}

private final class DirectorRecorder: Recorder, Director, @unchecked Sendable {
  func manage(_ delegate: Delegate, _ others: [Delegate]) -> Bool { others.isEmpty }
  func direct() {}
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

  @Test("a type of the user may be called Delegate")
  func delegate() {
    let (first, second, _) = pair(DirectorRecorder.self)
    #expect(MulticastManager([first, second]).manage(Delegate(), []))
    #expect(!MulticastDirector([first, second]).manage(Delegate(), [Delegate()]))
  }
}
