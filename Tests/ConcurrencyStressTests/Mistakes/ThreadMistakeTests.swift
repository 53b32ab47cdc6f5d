import ConcurrencyStress
import Synchronization
import Testing

/// Known mistakes with threads: each is found within a minute. The corrected program holds.
@Suite(.serialized) struct ThreadMistakeTests {
  // MARK: A lost wake-up

  /// A flag, and a thread that says that it sleeps until the flag is set.
  private final class Bell: Sendable {
    let isSet = Atomic(false)
    let isAsleep = Atomic(false)
    let wasWoken = Atomic(false)

    func ring() {
      isSet.store(true, ordering: .sequentiallyConsistent)
      if isAsleep.load(ordering: .sequentiallyConsistent) {
        wasWoken.store(true, ordering: .sequentiallyConsistent)
      }
    }

    func sleep(checksLast: Bool) {
      if !checksLast && isSet.load(ordering: .sequentiallyConsistent) { return }
      isAsleep.store(true, ordering: .sequentiallyConsistent)
      if checksLast && isSet.load(ordering: .sequentiallyConsistent) {
        isAsleep.store(false, ordering: .sequentiallyConsistent)
      }
    }

    var outcome: String {
      if !isAsleep.load(ordering: .sequentiallyConsistent) { return "awake" }
      return wasWoken.load(ordering: .sequentiallyConsistent) ? "woken" : "asleep for ever"
    }
  }

  private func bell(checksLast: Bool) -> OutcomeTest<Bell, String> {
    OutcomeTest(
      { Bell() },
      actors: [{ $0.ring() }, { $0.sleep(checksLast: checksLast) }],
      outcome: { $0.outcome },
      expected: [
        "awake": .accepted("the flag was set before"), "woken": .accepted(),
        "asleep for ever": .forbidden("the wake-up is lost"),
      ])
  }

  @Test func aWakeUpBetweenTheCheckAndTheSleepIsLost() {
    let table = bell(checksLast: false).run(seconds: 600)
    #expect(!table.held, "\(table)")
    let corrected = bell(checksLast: true).run(seconds: 1)
    #expect(corrected.held, "\(corrected)")
  }

  // MARK: ABA

  /// A stack of numbered nodes. `pop` reads the second node before it replaces the first by
  /// comparing numbers: in the meantime the first may have been popped and pushed again.
  private final class Stack: Sendable {
    private static let end = 0
    /// The number of the first node, and with `counts` above it how often it was replaced.
    private let top = Atomic<Int>(end)
    private let nodes: [Node]
    private let free: Guarded<[Int]>
    private let counts: Bool

    private final class Node: Sendable {
      let value = Atomic<Int>(0)
      let next = Atomic<Int>(0)
    }

    init(counts: Bool) {
      self.counts = counts
      nodes = (0...16).map { _ in Node() }
      free = Guarded(Array(1...16))
    }

    func push(_ value: Int) {
      let node = free.withLock { $0.removeLast() }
      nodes[node].value.store(value, ordering: .relaxed)
      while true {
        let old = top.load(ordering: .acquiring)
        nodes[node].next.store(old & 0xFF, ordering: .relaxed)
        if replace(old, by: node) { return }
      }
    }

    func pop() -> Int? {
      while true {
        let old = top.load(ordering: .acquiring)
        guard old & 0xFF != Self.end else { return nil }
        let node = nodes[old & 0xFF]
        let next = node.next.load(ordering: .relaxed)
        let value = node.value.load(ordering: .relaxed)
        Perturbation.delay()
        guard replace(old, by: next) else { continue }
        free.withLock { $0.append(old & 0xFF) }
        return value
      }
    }

    private func replace(_ old: Int, by node: Int) -> Bool {
      let count = counts ? (old >> 8 + 1) << 8 : 0
      return top.compareExchange(
        expected: old, desired: node | count, ordering: .acquiringAndReleasing
      ).exchanged
    }
  }

  private func stack(counts: Bool) -> LinearizabilityTest<Stack, [Int]> {
    LinearizabilityTest({ Stack(counts: counts) }, model: [Int](), operationsPerThread: 5)
      .operation("push", 1...9, { $0.push($1) }, model: { $0.append($1) })
      .operation("pop", { $0.pop() }, model: { $0.popLast() })
  }

  @Test func aStackThatComparesNumbersOnlySuffersFromABA() throws {
    let report = stack(counts: false).run(seconds: 600)
    let failure = try #require(report.failure)
    #expect(failure.contains("┌ pop()"), "\(failure)")
    let corrected = stack(counts: true).run(seconds: 1)
    #expect(corrected.held, "\(corrected)")
  }
}
