public import MulticastMacros
import Testing

// Names that clash or shadow, access, conditions, nesting.

// The names of the library, of the standard library and of the expansion.
struct Multicast {}
struct MulticastMacros {}
struct MulticastDelegate {}
struct MulticastComposite {}
struct StorageStrategy {}
struct Composition {}
struct RefinedDelegates {}
struct Sequence {}
struct Registration {}

@Multicast
protocol Shadowing: AnyObject {
  func start(_ value: Int)
  @Answer(.all, errors: .afterAll) func values() async throws -> [Int]
}

@Multicast
protocol ClashingFunctions: AnyObject {
  func add(_ value: Int)
  func remove(_ value: Int) -> Bool
  func removeAll()
  func contains(_ value: Int) -> Bool
  func forEach(_ value: Int)
}

@Multicast
protocol ClashingProperties: AnyObject {
  @Answer(.sum) var count: Int { get }
  @Answer(.some) var isEmpty: Bool { get }
  var delegates: [Int] { get }
}

@Multicast
protocol ClashingDelegates: AnyObject {
  func delegates() -> [Int]
  func add(_ delegate: any ClashingDelegates) -> Bool
}

/// Parameters that are called like what an expansion calls.
@Multicast
protocol ClashingParameters: AnyObject {
  func start(refinedDelegates: Int, delegates: Int)
  func later(refinedDelegates: Int, delegates: Int) async -> Bool
  subscript(refinedDelegates: Int, delegates: Int) -> Int? { get }
}

@Multicast
protocol ClashingChild: ClashingParameters {}

@Multicast
protocol `class`: AnyObject {
  func start()
}

@Multicast
protocol `A raw name`: AnyObject {
  func start()
}

@Multicast
private protocol Private: AnyObject {
  func start()
}

@Multicast
fileprivate protocol FilePrivate: AnyObject {
  func start()
}

@Multicast
internal protocol Internal: AnyObject {
  func start()
}

@Multicast
package protocol Packaged: AnyObject {
  func start()
}

@Multicast
public protocol Public: AnyObject {
  func start()
  var name: String? { get set }
  subscript(index: Int) -> Bool { get }
}

@available(macOS 15, iOS 18, *)
@Multicast
public protocol Available: AnyObject {
  @available(macOS 15.4, *) func start()
  #if os(Linux)
    func linux()
    var isLinux: Bool { get }
  #elseif os(macOS)
    func mac()
  #else
    func other()
  #endif
  #if DEBUG || true
    #if !NEVER
      func nested()
    #endif
  #endif
  #if (os(Linux)
    || os(macOS))
    func severalLines()
  #endif
}

enum Namespace {
  @Multicast
  protocol Nested: AnyObject {
    func start()
  }

  struct Inner {
    @Multicast
    fileprivate protocol Deep: AnyObject {
      func start()
    }
  }
}

@Multicast
protocol NestedChild: Namespace.Nested {
  func stop()
}

/// A protocol with documentation.
///
/// - Note: with braces { and "quotes".
@Multicast
protocol Documented: AnyObject {
  /// Starts.
  ///
  /// ```swift
  /// delegate.start() // {
  /// ```
  func start()

  /** Stops. */
  func stop()

  // MARK: - Others

  /// The name.
  var name: String? { get }
}

final class NameRecorder: Recorder, Shadowing, ClashingFunctions, `class`, `A raw name`, Private,
  FilePrivate, ClashingChild,
  Internal, Packaged, Public, Available, NestedChild, Documented, @unchecked Sendable
{
  var name: String?
  func start(_ value: Int) { note("\(value)") }
  func values() async throws -> [Int] { [id] }
  func add(_ value: Int) { note("add \(value)") }
  func remove(_ value: Int) -> Bool { true }
  func removeAll() { note("removeAll") }
  func contains(_ value: Int) -> Bool { true }
  func forEach(_ value: Int) { note("forEach \(value)") }
  func start() { note("start") }
  func stop() { note("stop") }
  subscript(index: Int) -> Bool { true }
  func start(refinedDelegates: Int, delegates: Int) { note("\(refinedDelegates) \(delegates)") }
  func later(refinedDelegates: Int, delegates: Int) async -> Bool { delegates == 2 }
  subscript(refinedDelegates: Int, delegates: Int) -> Int? { delegates }
  func linux() { note("linux") }
  var isLinux: Bool { true }
  func mac() {}
  func other() {}
  func nested() { note("nested") }
  func severalLines() { note("several lines") }
}

final class ClashRecorder: Recorder, ClashingProperties, @unchecked Sendable {
  var count: Int { 10 }
  var isEmpty: Bool { true }
  var delegates: [Int] { [id] }
}

final class ClashingDelegatesRecorder: Recorder, ClashingDelegates, @unchecked Sendable {
  func delegates() -> [Int] { [id] }
  func add(_ delegate: any ClashingDelegates) -> Bool { true }
}

extension NameRecorder: Namespace.Inner.Deep {}

@Suite("Corpus: names, access and conditions")
struct NameCorpus {
  @Test func shadowing() async throws {
    let (first, second, log) = pair(NameRecorder.self)
    let composite = MulticastShadowing([first, second])
    composite.start(1)
    #expect(log.take() == both("1"))
    #expect(try await composite.values() == [1, 2])
  }

  @Test func clashes() {
    let (first, second, log) = pair(NameRecorder.self)
    let composite = MulticastClashingFunctions()
    composite.add(first)
    composite += second
    composite.add(3)
    #expect(composite.remove(3) && composite.contains(3))
    composite.removeAll()
    composite.forEach(4)
    #expect(log.take() == both("add 3") + both("removeAll") + both("forEach 4"))
    #expect(composite.count == 2)
    composite.remove(first)
    composite.delegates.removeAll()
    #expect(composite.isEmpty)
  }

  @Test("a parameter may be called like what an expansion calls", arguments: [1, 2])
  func clashingParameters(composite number: Int) async {
    let (first, second, log) = pair(NameRecorder.self)
    let composite: any ClashingParameters =
      number == 1
      ? MulticastClashingParameters([first, second]) : MulticastClashingChild([first, second])
    composite.start(refinedDelegates: 1, delegates: 2)
    #expect(log.take() == both("1 2"))
    #expect(await composite.later(refinedDelegates: 1, delegates: 2))
    #expect(composite[1, 2] == 2)
  }

  @Test func clashingProperties() {
    let (first, second, _) = pair(ClashRecorder.self)
    let composite = MulticastClashingProperties([first, second])
    #expect(composite.count == 20 && composite.isEmpty && composite.delegates == [1, 2])
    #expect(composite.delegates2.count == 2)
    let (third, fourth, _) = pair(ClashingDelegatesRecorder.self)
    let other = MulticastClashingDelegates([third, fourth])
    #expect(other.delegates() == [1, 2] && other.delegates2.count == 2)
  }

  @Test func accessAndNesting() {
    let (first, second, log) = pair(NameRecorder.self)
    Multicastclass([first, second]).start()
    `MulticastA raw name`([first, second]).start()
    MulticastPrivate([first, second]).start()
    MulticastFilePrivate([first, second]).start()
    MulticastInternal([first, second]).start()
    MulticastPackaged([first, second]).start()
    MulticastPublic([first, second]).start()
    Namespace.MulticastNested([first, second]).start()
    Namespace.Inner.MulticastDeep([first, second]).start()
    let child = MulticastNestedChild([first, second])
    child.start()
    child.stop()
    MulticastDocumented([first, second]).stop()
    #expect(log.take() == (0..<10).flatMap { _ in both("start") } + both("stop") + both("stop"))
  }

  @Test func conditions() {
    let (first, second, log) = pair(NameRecorder.self)
    let composite = MulticastAvailable([first, second])
    composite.nested()
    #if os(Linux)
      composite.linux()
      composite.severalLines()
      #expect(composite.isLinux)
      #expect(log.take() == both("nested") + both("linux") + both("several lines"))
    #endif
  }
}
