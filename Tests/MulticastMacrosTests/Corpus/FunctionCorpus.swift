import MulticastMacros
import Testing

// Functions: labels, names, overloads, generics.

@Multicast
protocol Plain: AnyObject {
  func start()
}

@Multicast
protocol Labels: AnyObject {
  func move(from start: Int, to end: Int)
  func move(_ start: Int, _: Int)
  func move(by: Int)
  func `repeat`(for count: Int, in place: String, _ rest: Bool)
}

@Multicast
protocol Overloads: AnyObject {
  func show(_ value: Int)
  func show(_ value: String)
  func show(_ value: Int?)
  func show(value: Int)
}

@Multicast
protocol KeywordNames: AnyObject {
  func `class`(_ `in`: Int, for: String, `default` other: Int)
  func `init`(self value: Int)
  func use(switch: Int, where: Int, is: Bool)
  func wait(_ await: Int, then: Int)
}

@Multicast
protocol RawNames: AnyObject {
  func `a file is done`(`with name` name: String)
  func `moves (slowly)`(
    _ item: Int, `to (the` shelf: Int, inTheWarehouse `house)`: Int, atSomeTime time: Int)
}

@Multicast
protocol ShadowedNames: AnyObject {
  func add(_ delegates: Int, delegate: Int)
  func set(delegates: [String], answer: Int, arguments: Int)
}

@Multicast
protocol Unnamed: AnyObject {
  func pair(_: Int, _: Int)
  func one(_: String)
  func mixed(_: Int, _ argument1: Int)
}

@Multicast
protocol Generic: AnyObject {
  func receive<T>(_ value: T)
  func compare<T: Comparable>(_ left: T, with right: T)
  func join<S: Swift.Sequence>(_ parts: S) where S.Element == String
  func pair<A, B>(_ a: A, _ b: B) where A: Hashable, B: CustomStringConvertible
}

@Multicast
protocol Opaque: AnyObject {
  func receive(_ value: some Equatable)
  func receive(all values: some Collection<Int>)
  func existential(_ value: any Error, _ other: any Sendable & Hashable)
}

@Multicast
protocol Packs: AnyObject {
  func receive<each T>(_ values: repeat each T)
}

@Multicast
protocol Tuples: AnyObject {
  func receive(_ pair: (Int, String), named: (x: Int, y: Int))
  func dictionary(_ values: [String: [Int]], _ metatype: Int.Type, _ other: (any Error.Type)?)
  func nested(_ value: Dictionary<String, Array<Optional<Int>>>)
}

@Multicast
protocol CommentsEverywhere /* a */: /* b */ AnyObject /* c { */ {  // d }
  // func no()
  func /* e */ start /* f */( /* g */_ /* h */ value /* i */: /* j */ Int /* k */) /* l */
  /* func /* nested */ no() */ func stop(  // why
    _ value: Int  // because
  )
}

@Multicast protocol OneLine: AnyObject { func a(); func b(_ x: Int); var c: Bool { get }; func d() }

@Multicast
protocol Discarded: AnyObject {
  @discardableResult func remove(_ value: Int) -> Bool
  @available(*, deprecated, message: "use (b): \"c\"") func old()
  @available(swift 6.0) func new()
  @inline(never) func attribute()
}

@Multicast
protocol Selected: AnyObject {
  func module(_ value: Swift.Int, _ text: Swift::String)
}

final class FunctionRecorder: Recorder, Plain, Labels, Overloads, KeywordNames, RawNames,
  ShadowedNames,
  Unnamed, Generic, Opaque, Packs, Tuples, CommentsEverywhere, OneLine, Selected,
  @unchecked Sendable
{
  func start() { note("start") }
  func move(from start: Int, to end: Int) { note("\(start) to \(end)") }
  func move(_ start: Int, _ end: Int) { note("\(start), \(end)") }
  func move(by: Int) { note("by \(by)") }
  func `repeat`(for count: Int, in place: String, _ rest: Bool) {
    note("\(count) \(place) \(rest)")
  }
  func show(_ value: Int) { note("Int \(value)") }
  func show(_ value: String) { note("String \(value)") }
  func show(_ value: Int?) { note("Optional \(value ?? 0)") }
  func show(value: Int) { note("labelled \(value)") }
  func `class`(_ `in`: Int, for text: String, `default` other: Int) {
    note("\(`in`)\(text)\(other)")
  }
  func `init`(self value: Int) { note("init \(value)") }
  func use(switch a: Int, where b: Int, is c: Bool) { note("\(a) \(b) \(c)") }
  func wait(_ await: Int, then: Int) { note("\(`await`) \(then)") }
  func `a file is done`(`with name` name: String) { note(name) }
  func `moves (slowly)`(
    _ item: Int, `to (the` shelf: Int, inTheWarehouse house: Int, atSomeTime time: Int
  ) {
    note("\([item, shelf, time])")
  }
  func add(_ delegates: Int, delegate: Int) { note("\(delegates) \(delegate)") }
  func set(delegates: [String], answer: Int, arguments: Int) { note("\(delegates) \(answer)") }
  func pair(_ a: Int, _ b: Int) { note("\(a) \(b)") }
  func one(_ a: String) { note(a) }
  func mixed(_ a: Int, _ b: Int) { note("\(a) \(b)") }
  func receive<T>(_ value: T) { note("\(value)") }
  func compare<T: Comparable>(_ left: T, with right: T) { note("\(left < right)") }
  func join<S: Swift.Sequence>(_ parts: S) where S.Element == String { note(parts.joined()) }
  func pair<A, B>(_ a: A, _ b: B) where A: Hashable, B: CustomStringConvertible { note("\(a)\(b)") }
  func receive(all values: some Collection<Int>) { note("\(values.count)") }
  func existential(_ value: any Error, _ other: any Sendable & Hashable) { note("\(other)") }
  func receive<each T>(_ values: repeat each T) {
    var text = ""
    for value in repeat each values { text += "\(value);" }
    note(text)
  }
  func receive(_ pair: (Int, String), named: (x: Int, y: Int)) {
    note("\(pair.0)\(pair.1)\(named.y)")
  }
  func dictionary(_ values: [String: [Int]], _ metatype: Int.Type, _ other: (any Error.Type)?) {
    note("\(values.count) \(metatype)")
  }
  func nested(_ value: [String: [Int?]]) { note("\(value.count)") }
  func start(_ value: Int) { note("start \(value)") }
  func stop(_ value: Int) { note("stop \(value)") }
  func a() { note("a") }
  func b(_ x: Int) { note("b \(x)") }
  var c: Bool { id == 1 }
  func d() { note("d") }
  func module(_ value: Int, _ text: String) { note("\(value)\(text)") }
}

@Suite("Corpus: functions")
struct FunctionCorpus {
  let first: FunctionRecorder
  let second: FunctionRecorder
  let log: Log

  init() {
    (first, second, log) = pair(FunctionRecorder.self)
  }

  @Test func plain() {
    MulticastPlain([first, second]).start()
    #expect(log.take() == both("start"))
  }

  @Test func labels() {
    let composite = MulticastLabels([first, second])
    composite.move(from: 1, to: 2)
    composite.move(1, 2)
    composite.move(by: 3)
    composite.repeat(for: 1, in: "x", true)
    #expect(log.take() == both("1 to 2") + both("1, 2") + both("by 3") + both("1 x true"))
  }

  @Test func overloads() {
    let composite = MulticastOverloads([first, second])
    composite.show(1)
    composite.show("a")
    composite.show(Optional(3))
    composite.show(value: 4)
    #expect(
      log.take() == both("Int 1") + both("String a") + both("Optional 3") + both("labelled 4"))
  }

  @Test func names() {
    let keywords = MulticastKeywordNames([first, second])
    keywords.class(1, for: "f", default: 2)
    keywords.`init`(self: 3)
    keywords.use(switch: 1, where: 2, is: false)
    keywords.wait(4, then: 5)
    #expect(log.take() == both("1f2") + both("init 3") + both("1 2 false") + both("4 5"))
    let raw = MulticastRawNames([first, second])
    raw.`a file is done`(`with name`: "x")
    raw.`moves (slowly)`(1, `to (the`: 2, inTheWarehouse: 3, atSomeTime: 4)
    #expect(log.take() == both("x") + both("[1, 2, 4]"))
    let shadowed = MulticastShadowedNames([first, second])
    shadowed.add(1, delegate: 2)
    shadowed.set(delegates: ["d"], answer: 1, arguments: 2)
    #expect(log.take() == both("1 2") + both("[\"d\"] 1"))
    let unnamed = MulticastUnnamed([first, second])
    unnamed.pair(1, 2)
    unnamed.one("o")
    unnamed.mixed(3, 4)
    #expect(log.take() == both("1 2") + both("o") + both("3 4"))
  }

  @Test func generics() {
    let composite = MulticastGeneric([first, second])
    composite.receive(5)
    composite.compare(1, with: 2)
    composite.join(["a", "b"])
    composite.pair(1, 2)
    #expect(log.take() == both("5") + both("true") + both("ab") + both("12"))
    let opaque = MulticastOpaque([first, second])
    opaque.receive(6)
    opaque.receive(all: [1, 2])
    opaque.existential(CancellationError(), 7)
    #expect(log.take() == both("6") + both("2") + both("7"))
    MulticastPacks([first, second]).receive(1, "a")
    #expect(log.take() == both("1;a;"))
  }

  @Test func types() {
    let composite = MulticastTuples([first, second])
    composite.receive((1, "a"), named: (x: 2, y: 3))
    composite.dictionary(["a": []], Int.self, nil)
    composite.nested([:])
    #expect(log.take() == both("1a3") + both("1 Int") + both("0"))
    MulticastSelected([first, second]).module(1, "a")
    #expect(log.take() == both("1a"))
  }

  @Test func layout() {
    let comments = MulticastCommentsEverywhere([first, second])
    comments.start(1)
    comments.stop(2)
    #expect(log.take() == both("start 1") + both("stop 2"))
    let line = MulticastOneLine([first, second])
    line.a()
    line.b(1)
    line.d()
    #expect(log.take() == both("a") + both("b 1") + both("d"))
    #expect(!line.c)
  }
}
