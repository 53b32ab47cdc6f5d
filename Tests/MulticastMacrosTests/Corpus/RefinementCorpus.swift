import MulticastMacros
import Testing

// Protocols that refine others.

@Multicast
protocol Animal: AnyObject {
  func eat(_ food: String)
  func isHungry() -> Bool
  var name: String? { get set }
  func walk() async throws -> [Int]
}

@Multicast
protocol Dog: Animal {
  func bark()
}

@Multicast
protocol Puppy: Dog {
  func play(_ toy: inout Int)
}

@Multicast
protocol Swimmer: AnyObject {
  func swim()
}

@Multicast
protocol Retriever: Dog, Swimmer {
  func fetch(_ thing: String)
}

@Multicast
protocol Quiet: Animal {
  // A requirement of the refined protocol, repeated with a policy of its own.
  @Answer(.some) func isHungry() -> Bool
}

/// A protocol of another module, without a composite.
protocol Foreign: AnyObject {
  func arrive(_ place: String)
}

/// Its name is that of a generic parameter of the library.
protocol Refined: AnyObject {}

@Multicast
protocol Traveller: Foreign, Refined {
  func arrive(_ place: String)
  func leave()
}

@Multicast
protocol SendableBase: AnyObject, Sendable {
  func receive(_ value: Int)
}

@Multicast
protocol SendableChild: SendableBase {
  func send(_ value: Int)
}

struct Payload: Sendable {
  var value = 0
}

@Multicast
protocol InheritedSendability: SendableBase {
  func send(_ payload: Payload, to name: String?)
  var payload: Payload? { get set }
  func sendGeneric<T: Sendable>(_ value: T)
}

@Multicast
protocol InheritedTwice: InheritedSendability {}

@Multicast
protocol InheritedLocal: Animal {
  func send(_ log: Log, _ others: [Log])
  func sendGeneric<T>(_ value: T)
}

@Multicast
protocol InheritedLocalTwice: InheritedLocal {}

@Multicast
protocol Described: AnyObject, CustomStringConvertible, CustomDebugStringConvertible {
  func start()
}

@Multicast
protocol Comparable2: AnyObject, Hashable {
  func start()
}

@Multicast
protocol Identified: AnyObject, Identifiable {
  func start()
}

@Multicast
protocol ComposedInheritance: Animal & Swimmer {}

@Multicast
protocol SelfConstrained where Self: AnyObject {
  var name: String? { get set }
}

@Multicast
protocol Empty: AnyObject {}

@Multicast
protocol EmptyChild: Swimmer {}

@Multicast
protocol CountedBase: AnyObject {
  @Answer(.sum) var count: Int { get }
}

@Multicast
protocol CountedChild: CountedBase {
  func start()
}

final class AnimalRecorder: Recorder, Puppy, Retriever, Quiet, Traveller, Refined,
  ComposedInheritance,
  SelfConstrained, EmptyChild, Empty, CountedChild, @unchecked Sendable
{
  var name: String?
  func eat(_ food: String) { note("eat \(food)") }
  func isHungry() -> Bool { id == 2 }
  func walk() async throws -> [Int] { [id] }
  func bark() { note("bark") }
  func play(_ toy: inout Int) { toy += id }
  func swim() { note("swim") }
  func fetch(_ thing: String) { note("fetch \(thing)") }
  func arrive(_ place: String) { note("arrive \(place)") }
  func leave() { note("leave") }
  var count: Int { 10 }
  func start() { note("start") }
}

final class SendableChildRecorder: Recorder, SendableChild, @unchecked Sendable {
  func receive(_ value: Int) { note("receive \(value)") }
  func send(_ value: Int) { note("send \(value)") }
}

final class InheritingRecorder: Recorder, InheritedTwice, InheritedLocalTwice, @unchecked Sendable {
  var payload: Payload?
  var name: String?
  func receive(_ value: Int) { note("receive \(value)") }
  func send(_ payload: Payload, to name: String?) { note("\(payload.value) \(name ?? "")") }
  func sendGeneric<T>(_ value: T) { note("\(value)") }
  func send(_ log: Log, _ others: [Log]) { note("\(others.count)") }
  func eat(_ food: String) {}
  func isHungry() -> Bool { true }
  func walk() async throws -> [Int] { [] }
}

final class StandardRecorder: Recorder, Described, Comparable2, Identified, @unchecked Sendable {
  var description: String { "recorder" }
  var debugDescription: String { "recorder" }
  static func == (left: StandardRecorder, right: StandardRecorder) -> Bool { left === right }
  func hash(into hasher: inout Hasher) { hasher.combine(id) }
  func start() { note("start") }
}

@Suite("Corpus: protocols that refine others")
struct RefinementCorpus {
  @Test func oneLevel() async throws {
    let (first, second, log) = pair(AnimalRecorder.self)
    let composite = MulticastDog([first, second])
    composite.eat("a")
    composite.bark()
    composite.name = "n"
    #expect(log.take() == both("eat a") + both("bark"))
    #expect(second.name == "n" && composite.name == "n")
    #expect(!composite.isHungry())
    #expect(try await composite.walk() == [1, 2])
    let animal: any Animal = composite
    animal.eat("b")
    #expect(log.take() == both("eat b"))
  }

  @Test func severalLevels() {
    let (first, second, log) = pair(AnimalRecorder.self)
    let composite = MulticastPuppy([first, second])
    composite.eat("a")
    composite.bark()
    var toy = 0
    composite.play(&toy)
    #expect(log.take() == both("eat a") + both("bark"))
    #expect(toy == 3)
  }

  @Test func severalProtocols() {
    let (first, second, log) = pair(AnimalRecorder.self)
    let composite = MulticastRetriever([first, second])
    composite.eat("a")
    composite.swim()
    composite.fetch("b")
    #expect(log.take() == both("eat a") + both("swim") + both("fetch b"))
    let composed = MulticastComposedInheritance([first, second])
    composed.swim()
    composed.eat("c")
    #expect(log.take() == both("swim") + both("eat c"))
    MulticastEmptyChild([first, second]).swim()
    #expect(log.take() == both("swim"))
    #expect(MulticastEmpty([first, second]).count == 2)
  }

  @Test func repeatedRequirements() {
    let (first, second, log) = pair(AnimalRecorder.self)
    #expect(MulticastQuiet([first, second]).isHungry())
    let traveller = MulticastTraveller([first, second])
    traveller.arrive("x")
    traveller.leave()
    (traveller as any Foreign).arrive("y")
    #expect(log.take() == both("arrive x") + both("leave") + both("arrive y"))
  }

  @Test func sendability() async {
    let (first, second, log) = pair(SendableChildRecorder.self)
    let composite = MulticastSendableChild([first, second])
    await Task.detached { composite.receive(1) }.value
    composite.send(2)
    #expect(log.take() == both("receive 1") + both("send 2"))
  }

  @Test func inheritedSendability() {
    let (first, second, log) = pair(InheritingRecorder.self)
    let composite = MulticastInheritedTwice([first, second])
    composite.receive(1)
    composite.send(Payload(value: 2), to: "x")
    composite.payload = Payload(value: 3)
    composite.sendGeneric(4)
    #expect(log.take() == both("receive 1") + both("2 x") + both("4"))
    #expect(second.payload?.value == 3)
    let single = MulticastInheritedSendability([first])
    single.send(Payload(), to: nil)
    #expect(log.take() == ["1 0 "])
    let local = MulticastInheritedLocalTwice([first, second])
    local.send(log, [])
    local.sendGeneric(5)
    #expect(log.take() == both("0") + both("5"))
  }

  @Test func standardProtocols() {
    let (first, second, log) = pair(StandardRecorder.self)
    let described = MulticastDescribed([first, second])
    described.start()
    #expect(described.description.contains("2"))
    #expect(log.take() == both("start"))
    let composite = MulticastComparable2([first, second])
    #expect(composite == composite && Set([composite]).contains(composite))
    #expect(composite != MulticastComparable2())
    #expect(MulticastIdentified().id != MulticastIdentified([first]).id)
    MulticastSelfConstrained().name = "x"
  }

  @Test("a requirement that is inherited has precedence over the composite's own member")
  func inheritedNames() {
    let (first, second, _) = pair(AnimalRecorder.self)
    let composite = MulticastCountedChild([first, second])
    #expect((composite as any CountedBase).count == 20)
    #expect(composite.delegates.count == 2)
  }
}
