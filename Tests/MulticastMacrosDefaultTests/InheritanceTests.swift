import Dispatch
import MulticastMacros
import Testing

// This module has no upcoming features: a requirement that suspends leaves the actor of its caller.

@Multicast
nonisolated protocol Titled: AnyObject {
  func rename(_ name: String)
  func ask() async -> Int?
  nonisolated(nonsending) func askHere() async -> Int?
  @Answer(.sum) var total: Int { get async }
}

@Multicast
nonisolated protocol Listed: Titled {
  func list()
}

@Multicast
@MainActor
protocol Shown: Titled {
  func show()
}

@Multicast
@MainActor
protocol Visible: Titled, Sendable {
  func hide()
}

@MainActor
private final class Screen: Shown, Visible {
  nonisolated let names = Names()
  nonisolated func rename(_ name: String) { names.add(name) }
  func ask() async -> Int? { 1 }
  func askHere() async -> Int? { 2 }
  var total: Int { get async { 3 } }
  func show() {}
  func hide() {}
}

private final class Names: Sendable {
  private let queue = DispatchQueue(label: "names")
  // Sendable: accessed on `queue` only.
  private nonisolated(unsafe) var list: [String] = []
  func add(_ name: String) { queue.sync { list.append(name) } }
  func all() -> [String] { queue.sync { list } }
}

private final class Row: Listed {
  func rename(_ name: String) {}
  func ask() async -> Int? { 1 }
  func askHere() async -> Int? { 2 }
  var total: Int { get async { 3 } }
  func list() {}
}

@Suite("Inheritance without upcoming features")
struct InheritanceTests {
  @Test("a composite without an actor forwards inherited requirements that suspend")
  func nonisolated() async {
    let (first, second) = (Row(), Row())
    let composite = MulticastListed([first, second])
    #expect(await composite.ask() == 1)
    #expect(await composite.askHere() == 2)
    #expect(await composite.total == 6)
    withExtendedLifetime((first, second)) {}
  }

  @Test("a composite of an actor forwards those that stay on it")
  @MainActor func isolated() async {
    let screen = Screen()
    let composite = MulticastShown([screen])
    #expect(await composite.askHere() == 2)
  }

  @Test("a composite of an actor ends the process at one that leaves it, and says so")
  func leaving() async throws {
    let result = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      await Task { @MainActor in
        let screen = Screen()
        _ = await MulticastShown([screen]).ask()
      }.value
    }
    let message = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(message.contains("an async requirement of Titled leaves the actor of MulticastShown"))
  }

  @Test("if its delegates are Sendable, it forwards all, and delivers them in their contexts")
  @MainActor func sendable() async {
    let (first, second) = (Screen(), Screen())
    let composite = MulticastVisible()
    composite.add(first, on: .main)
    composite.add(second, on: DispatchQueue(label: "visible"))
    composite.rename("a")
    await composite.delegates.flush()
    #expect(first.names.all() == ["a"] && second.names.all() == ["a"])
    let asked = MulticastVisible([first, second])
    #expect(await asked.ask() == 1)
    #expect(await asked.total == 6)
  }
}
