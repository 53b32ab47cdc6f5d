import Foundation
import Testing

@testable import ConcurrencyStress

/// A queue that is right.
private final class LockedQueue: Sendable {
  private let values = Guarded<[Int]>([])

  func enqueue(_ value: Int) { values.withLock { $0.append(value) } }
  func dequeue() -> Int? { values.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
}

/// A queue that reads its first value and removes it under two locks.
private final class BrokenQueue: Sendable {
  private let values = Guarded<[Int]>([])

  func enqueue(_ value: Int) { values.withLock { $0.append(value) } }

  func dequeue() -> Int? {
    let first = values.withLock { $0.first }
    values.withLock { if !$0.isEmpty { $0.removeFirst() } }
    return first
  }
}

@Suite struct LinearizabilityTests {
  @Test func aQueueThatIsRightHolds() throws {
    let report = try LinearizabilityTest({ LockedQueue() }, model: [Int]())
      .operation("enqueue", 1...9, { $0.enqueue($1) }, model: { $0.append($1) })
      .operation("dequeue", { $0.dequeue() }, model: { $0.isEmpty ? nil : $0.removeFirst() })
      .check(seconds: 1)
    #expect(report.histories > 0)
  }

  @Test func aBrokenQueueFailsWithTheSmallestHistoryAsColumns() throws {
    let test = LinearizabilityTest({ BrokenQueue() }, model: [Int]())
      .operation("enqueue", 1...9, { $0.enqueue($1) }, model: { $0.append($1) })
      .operation("dequeue", { $0.dequeue() }, model: { $0.isEmpty ? nil : $0.removeFirst() })
    var report = test.run(seconds: 600)
    // The search for a smaller history has a time limit, which a busy machine may reach.
    for _ in 0..<5 where report.failureOperations > 4 { report = test.run(seconds: 600) }
    let failure = try #require(report.failure)
    // One enqueue before, and two dequeues at once, of which both return it or none removes it.
    #expect(report.failureOperations <= 4, "\(failure)")
    #expect(failure.contains("thread 0"), "\(failure)")
    #expect(failure.contains("┌ dequeue()"), "\(failure)")
  }

  @Test func aCrashSaysWhatTheThreadsCalled() async throws {
    let result = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = LinearizabilityTest({ LockedQueue() }, model: [Int]())
        .operation("enqueue", [7], { $0.enqueue($1) }, model: { $0.append($1) })
        .operation("dequeue", { $0.dequeue()! }, model: { _ in 7 })  // The queue may be empty.
        .run(seconds: 600)
    }
    let errors = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(errors.contains("BROKEN  a history crashed:\n"), "\(errors)")
    #expect(errors.contains("thread 1: "), "\(errors)")
  }

  @Test func slowCallsDoNotExceedTheTime() throws {
    let subjects = Counter()
    let test = LinearizabilityTest({ subjects.add() }, model: 0)
      .operation("wait", { _ in usleep(40_000) }, model: { _ in })  // A call that takes long.
    #expect((1..<64).contains(test.run(seconds: 0.1).histories))
    let program = StressProgram(
      "slow-stress", summary: "Waits.",
      scenarios: [test.scenario("slow", promise: "a round takes about a second")])
    let trial = Trial(
      program.scenarios[0], try StressOptions([], for: program), .rounds(1))
    let before = subjects.value
    program.scenarios[0].run(trial)
    #expect(trial.rounds == 1 && (1..<64).contains(subjects.value - before))
  }

  @Test func aScenarioNumbersItsHistoriesAndNotItsRounds() throws {
    let test = LinearizabilityTest({ 0 }, model: 0).operation("one", { _ in 1 }, model: { _ in 2 })
    let program = StressProgram(
      "wrong-stress", summary: "Fails.", scenarios: [test.scenario("wrong", promise: "it is two")])
    let trial = Trial(program.scenarios[0], try StressOptions([], for: program), .rounds(1))
    program.scenarios[0].run(trial)
    let failure = try #require(trial.brokenPromises.first)
    #expect(failure.contains("(history 1, seed "), "\(failure)")
  }

  @Test func aValueOfSeveralLinesStaysInItsColumn() throws {
    let broken = LinearizabilityTest({ 0 }, model: 0)
      .operation("put", ["a\n\"b\""], { $1 }, model: { _, _ in "" }).run(seconds: 10)
    let failure = try #require(broken.failure)
    #expect(failure.contains(##"put("a\n\"b\"") → "a\n\"b\"""##), "\(failure)")
    let notes = ScheduleTest { schedule in
      schedule.note("first\nsecond")
      schedule.fail("it broke")
    }.run(schedules: 1)
    #expect(notes.description.contains("1      first\u{FFFD}second\n"), "\(notes)")
  }

  @Test func moreThreadsMayCall() throws {
    for threads in 3...4 {
      let report = LinearizabilityTest(
        { LockedQueue() }, model: [Int](), threads: threads, operationsPerThread: 2
      )
      .operation("enqueue", 1...9, { $0.enqueue($1) }, model: { $0.append($1) })
      .operation("dequeue", { $0.dequeue() }, model: { $0.isEmpty ? nil : $0.removeFirst() })
      .run(seconds: 0.2)
      #expect(report.held, "\(report)")
    }
  }

  @Test func errorsAreResults() throws {
    struct Empty: Error {}
    let held = LinearizabilityTest({ LockedQueue() }, model: [Int]())
      .operation("enqueue", [1], { $0.enqueue($1) }, model: { $0.append($1) })
      .operation(
        "take",
        { queue in
          guard let value = queue.dequeue() else { throw Empty() }
          return value
        },
        model: { values in
          guard !values.isEmpty else { throw Empty() }
          return values.removeFirst()
        }
      )
      .run(seconds: 0.2)
    #expect(held.held, "\(held)")
    let broken = LinearizabilityTest({ LockedQueue() }, model: 0)
      .operation(
        "take",
        { queue in
          guard let value = queue.dequeue() else { throw Empty() }
          return value
        }, model: { _ in 7 }
      )
      .run(seconds: 10)
    let failure = try #require(broken.failure)
    #expect(failure.contains("take() → throws Empty()"), "\(failure)")
    #expect(failure.contains("then take() of thread 0 returns 7, not throws Empty()"), "\(failure)")
    #expect(broken.failureOperations == 1)
  }

  @Test func errorsAreComparedAndNotTheirTexts() {
    struct Refusal: Error, Equatable, CustomStringConvertible {
      let code: Int
      var description: String { "refused" }
    }
    enum Other: String, Error, CustomStringConvertible {
      case refused
      var description: String { rawValue }
    }
    func report(_ thrown: any Error) -> LinearizabilityReport {
      LinearizabilityTest({ 0 }, model: 0)
        .operation("take", { _ in throw thrown }, model: { _ in throw Refusal(code: 1) })
        .run(seconds: 0.1)
    }
    #expect(report(Refusal(code: 1)).held)
    #expect(!report(Refusal(code: 2)).held)
    #expect(!report(Other.refused).held)
  }

  @Test func aResultThatIsNothingHasAWord() throws {
    struct Full: Error {}
    let silent = LinearizabilityTest({ 0 }, model: 0)
      .operation("put", { _ in }, model: { _ in throw Full() }).run(seconds: 10)
    let missing = try #require(silent.failure)
    #expect(missing.hasSuffix("then put() of thread 0 throws Full(), not nothing"), "\(missing)")
    let refusing = LinearizabilityTest({ 0 }, model: 0)
      .operation("put", { _ in throw Full() }, model: { _ in }).run(seconds: 10)
    let thrown = try #require(refusing.failure)
    #expect(
      thrown.hasSuffix("then put() of thread 0 returns nothing, not throws Full()"), "\(thrown)")
  }
}

/// A register of one number.
private struct Register: SequentialModel {
  enum Call: DescribedCall {
    case write(Int)
    case read(Int)

    var callText: String {
      switch self {
      case .write(let value): "write(\(value))"
      case .read: "read()"
      }
    }

    var resultText: String {
      switch self {
      case .write: ""
      case .read(let value): "\(value)"
      }
    }
  }

  var value = 0

  mutating func step(_ call: Call, of operation: Int) -> HistoryStep {
    switch call {
    case .write(let new): value = new
    case .read(let expected): if value != expected { return .impossible }
    }
    return .over
  }
}

@Suite struct HistoryTests {
  private typealias Operation = History<Register.Call>.Operation

  @Test func overlappingCallsMayTakeEffectInEitherOrder() {
    for read in 0...2 {
      let history = History(operations: [
        Operation(action: Register.Call.write(1), began: 1, returned: 6, thread: 0),
        Operation(action: .read(read), began: 2, returned: 5, thread: 1),
      ])
      #expect(history.isLinearizable(by: Register()) == (read < 2))
    }
  }

  @Test func aReadAfterAnotherDoesNotSeeAnOlderValue() {
    let history = History(operations: [
      Operation(action: Register.Call.write(1), began: 1, returned: 9, thread: 0),
      Operation(action: .read(1), began: 2, returned: 3, thread: 1),
      Operation(action: .read(0), began: 4, returned: 5, thread: 1),
    ])
    #expect(!history.isLinearizable(by: Register()))
  }

  @Test func theEmptyHistoryIsLinearizable() {
    #expect(History<Register.Call>().isLinearizable(by: Register()))
  }

  @Test func theColumnsShowWhichCallsOverlap() {
    let history = History(operations: [
      Operation(action: Register.Call.write(1), began: 1, returned: 2, thread: 0),
      Operation(action: .read(1), began: 3, returned: 6, thread: 0),
      Operation(action: .write(2), began: 4, returned: 7, thread: 1),
      Operation(action: .read(2), began: 8, returned: 9, thread: 0),
    ])
    #expect(
      history.columns == """
        thread 0     thread 1
        write(1)
        ┌ read()
        │            ┌ write(2)
        └ 1          │
                     └
        read() → 2
        """)
  }

  @Test func aLongHistoryIsChecked() {
    // Sixty-four writes and reads, one after the other; the last read is wrong.
    func history(last: Int) -> History<Register.Call> {
      History(
        operations: (0..<64).map { index in
          let call: Register.Call =
            index.isMultiple(of: 2) ? .write(index) : .read(index == 63 ? last : index - 1)
          return Operation(action: call, began: 2 * index, returned: 2 * index + 1)
        })
    }
    #expect(history(last: 62).isLinearizable(by: Register()))
    #expect(!history(last: 61).isLinearizable(by: Register()))
  }
}
