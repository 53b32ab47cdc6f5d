import MulticastMacros
import Testing

// Properties and subscripts.

@Multicast
protocol ReadOnly: AnyObject {
  var isReady: Bool { get }
  var name: String? { get }
  var names: [String] { get }
  @Answer(.sum) var rows: Int { get }
  @Answer(.first, default: "") var title: String { get }
  @Answer(.some) var `default`: Bool { get }
}

@Multicast
protocol ReadWrite: AnyObject {
  var name: String? { get set }
  @Answer(.last, default: 0) var number: Int { get set }
  var bare: Bool { set get }
}

@Multicast
protocol SendableProperties: AnyObject, Sendable {
  var name: String? { get set }
  subscript(index: Int) -> String? { get set }
}

@Multicast
protocol EffectfulProperties: AnyObject {
  var slow: Bool { get async }
  var risky: String? { get throws }
  @Answer(.sum) var typed: Int { get throws(Failure) }
  @Answer(.all, errors: .afterAll) var both: [Int] { get async throws }
}

@Multicast
protocol Subscripts: AnyObject {
  subscript(index: Int) -> String? { get }
  subscript(row row: Int, column column: Int) -> Bool { get set }
  subscript<T: Hashable>(key: T) -> [Int] { get }
  subscript(_ left: Int, by right: Int) -> Bool { get async throws }
  subscript(_: String) -> Bool { get }
}

@Multicast
protocol SubscriptOfNewValue: AnyObject {
  @Answer(.sum) subscript(newValue: Int) -> Int { get set }
}

@Multicast
protocol SendableSubscriptOfNewValue: AnyObject, Sendable {
  @Answer(.sum) subscript(at newValue: Int) -> Int { get set }
}

@Multicast
protocol NonmutatingSetter {
  var name: String? { get nonmutating set }
  func start()
}

final class PropertyRecorder: Recorder, ReadOnly, ReadWrite, EffectfulProperties, Subscripts,
  @unchecked Sendable
{
  var isReady: Bool { true }
  var name: String?
  var names: [String] { ["n\(id)"] }
  var rows: Int { id }
  var title: String { "t\(id)" }
  var `default`: Bool { id == 2 }
  var number = 0
  var isEnabled = false
  var bare = false
  var slow: Bool { get async { id == 1 } }
  var risky: String? { get throws { id == 1 ? nil : "r" } }
  var typed: Int { get throws(Failure) { if id == 2 { throw Failure(id: 2) } else { id } } }
  var both: [Int] { get async throws { [id] } }
  subscript(index: Int) -> String? { index == id ? "at \(id)" : nil }
  var table: [Int: Bool] = [:]
  subscript(row row: Int, column column: Int) -> Bool {
    get { table[row * 10 + column] ?? false }
    set { table[row * 10 + column] = newValue }
  }
  subscript<T: Hashable>(key: T) -> [Int] { [id] }
  subscript(_ left: Int, by right: Int) -> Bool { get async throws { left == right } }
  subscript(text: String) -> Bool { text.isEmpty }
}

final class SendablePropertyRecorder: Recorder, SendableProperties, NonmutatingSetter,
  @unchecked Sendable
{
  var name: String?
  var texts: [Int: String] = [:]
  subscript(index: Int) -> String? {
    get { texts[index] }
    set { texts[index] = newValue }
  }
  func start() { note("start") }
}

final class NumberRecorder: Recorder, SubscriptOfNewValue, SendableSubscriptOfNewValue,
  @unchecked Sendable
{
  var numbers: [Int: Int] = [:]
  subscript(newValue: Int) -> Int {
    get { numbers[newValue] ?? 0 }
    set(number) { numbers[newValue] = number }
  }
  subscript(at index: Int) -> Int {
    get { self[index] }
    set { self[index] = newValue }
  }
}

@Suite("Corpus: properties and subscripts")
struct PropertyCorpus {
  @Test func reads() {
    let (first, second, _) = pair(PropertyRecorder.self)
    let composite = MulticastReadOnly([first, second])
    second.name = "n"
    #expect(composite.isReady && composite.name == "n" && composite.names == ["n1", "n2"])
    #expect(composite.rows == 3 && composite.title == "t1" && composite.default)
    #expect(MulticastReadOnly().title == "")
  }

  @Test func writes() {
    let (first, second, _) = pair(PropertyRecorder.self)
    let composite = MulticastReadWrite([first, second])
    composite.name = "x"
    composite.number = 7
    composite.bare = true
    #expect(first.name == "x" && second.name == "x" && composite.name == "x")
    #expect(second.number == 7 && composite.number == 7)
    #expect(composite.bare)
    composite.number += 1
    #expect(first.number == 8)
  }

  @Test func writesSendable() {
    let (first, second, log) = pair(SendablePropertyRecorder.self)
    let composite = MulticastSendableProperties([first, second])
    composite.name = "x"
    composite[3] = "three"
    #expect(second.name == "x" && second[3] == "three" && composite[3] == "three")
    let other = MulticastNonmutatingSetter([first, second])
    other.name = "y"
    other.start()
    #expect(first.name == "y" && log.take() == both("start"))
  }

  @Test func effects() async throws {
    let (first, second, _) = pair(PropertyRecorder.self)
    let composite = MulticastEffectfulProperties([first, second])
    #expect(await !composite.slow)
    #expect(try composite.risky == "r")
    #expect(throws: Failure(id: 2)) { try composite.typed }
    #expect(try await composite.both == [1, 2])
  }

  @Test func subscripts() async throws {
    let (first, second, _) = pair(PropertyRecorder.self)
    let composite = MulticastSubscripts([first, second])
    #expect(composite[2] == "at 2" && composite[3] == nil)
    composite[row: 1, column: 2] = true
    #expect(second[row: 1, column: 2] && composite[row: 1, column: 2])
    #expect(composite["k" as Character] == [1, 2])
    #expect(try await composite[1, by: 1])
    #expect(!composite["a"])
  }

  @Test func subscriptsOfNewValue() {
    let (first, second, _) = pair(NumberRecorder.self)
    let composite = MulticastSubscriptOfNewValue([first, second])
    composite[3] = 7
    #expect(second.numbers == [3: 7] && composite[3] == 14)
    let other = MulticastSendableSubscriptOfNewValue([first, second])
    other[at: 4] = 8
    #expect(second.numbers == [3: 7, 4: 8] && other[at: 4] == 16)
  }
}
