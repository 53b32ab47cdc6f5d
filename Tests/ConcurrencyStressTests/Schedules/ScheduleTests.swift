import Foundation
import Synchronization
import Testing

@testable import ConcurrencyStress

/// An account whose withdrawal checks the balance, awaits the bank, and then takes the money.
private actor Account {
  private(set) var balance = 100
  private let bank = Bank()

  func withdraw(_ amount: Int, _ schedule: Schedule) async {
    guard balance >= amount else { return schedule.note("refused") }
    schedule.note("may withdraw \(amount) of \(balance)")
    await bank.approve()
    balance -= amount
    schedule.note("has withdrawn \(amount), \(balance) left")
  }
}

private actor Bank {
  private var approvals = 0

  func approve() { approvals += 1 }
}

/// Two withdrawals that may overlap.
private let overdraft: @Sendable (Schedule) async throws -> Void = { schedule in
  let account = Account()
  async let first: Void = account.withdraw(80, schedule)
  async let second: Void = account.withdraw(80, schedule)
  _ = await (first, second)
  let balance = await account.balance
  schedule.expect(balance >= 0, "the balance is \(balance)")
}

/// A seed of `test` that fails.
private func failingSeed(_ test: ScheduleTest) throws -> UInt64 {
  let report = test.run(schedules: 10_000, seed: 1)
  return try #require(report.failure?.seed)
}

@Suite struct ScheduleTests {
  private static let orders = [
    ScheduleOrder.random, .priorities(preemptions: 1), .priorities(preemptions: 3),
  ]

  @Test(arguments: orders)
  func aFailingScheduleIsReplayedByItsSeed100Of100Times(_ order: ScheduleOrder) throws {
    let test = ScheduleTest(order: order, overdraft)
    let seed = try failingSeed(test)
    let first = try #require(test.replay(seed: seed).failure)
    #expect(first.messages == ["the balance is -60"])
    for _ in 0..<100 {
      let again = try #require(test.replay(seed: seed).failure)
      #expect(again.choices == first.choices)
      #expect(again.messages == first.messages)
      #expect(again.text == first.text)
    }
  }

  @Test func aFailingScheduleIsReplayedByItsChoices() throws {
    let test = ScheduleTest(overdraft)
    let failure = try #require(test.run(schedules: 10_000, seed: 1).failure)
    #expect(test.replay(choices: failure.choices).failure?.messages == failure.messages)
  }

  @Test func aChoiceThatIsNotPossibleStandsForTheNearestOne() {
    let test = ScheduleTest { schedule in
      async let first: Void = schedule.note("first")
      async let second: Void = schedule.note("second")
      _ = await (first, second)
    }
    for choice in [-1, Int.min, 99, Int.max] {
      #expect(test.replay(choices: [choice, choice, choice]).held)
    }
  }

  @Test func differentSeedsMakeDifferentSchedules() {
    let orders = Holder<[[Int]]>([])
    let test = ScheduleTest { _ in
      let order = Journal()
      await withTaskGroup { group in
        for number in 0..<4 {
          group.addTask {
            await Task.yield()
            order.record(number)
          }
        }
      }
      orders.value?.append(order.entries)
    }
    #expect(test.run(schedules: 100, seed: 1).held)
    // Of 24 orders, 100 random schedules miss few.
    #expect(Set(orders.value ?? []).count > 15)
  }

  @Test func everyScheduleOfASmallProgramIsExplored() {
    let seen = Holder<[[Int]]>([])
    let test = ScheduleTest { _ in
      let order = Journal()
      await withTaskGroup { group in
        for number in 0..<3 { group.addTask { order.record(number) } }
      }
      seen.value?.append(order.entries)
    }
    let report = test.explore()
    #expect(report.held && report.isComplete)
    // The orders of three tasks, and some of them again: the group may be resumed between two.
    #expect(Set(seen.value ?? []).count == 6)
    #expect(report.schedules == seen.value?.count)
  }

  @Test func prioritiesWithoutPreemptionsInterruptNoTask() {
    // The overdraft needs a task that is interrupted at one place.
    let test = ScheduleTest(order: .priorities(preemptions: 0), overdraft)
    #expect(test.run(schedules: 1_000, seed: 1).held)
  }

  @Test func aNegativeNumberOfPreemptionsTraps() async throws {
    let result = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = ScheduleTest(order: .priorities(preemptions: -1)) { _ in }
    }
    let errors = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(errors.contains("-1 preemptions: 0 or more are possible"), "\(errors)")
  }

  @Test func explorationFindsTheFailureAndReplaysIt() throws {
    let test = ScheduleTest(overdraft)
    let failure = try #require(test.explore().failure)
    #expect(failure.messages == ["the balance is -60"])
    for _ in 0..<100 {
      #expect(test.replay(choices: failure.choices).failure?.messages == failure.messages)
    }
  }

  @Test func explorationStopsAtItsLimit() {
    let test = ScheduleTest { _ in
      await withTaskGroup { group in
        for _ in 0..<8 { group.addTask { await Task.yield() } }
      }
    }
    let report = test.explore(limit: 50)
    #expect(report.held && !report.isComplete)
    #expect(report.schedules == 50)
  }

  @Test func anExplorationThatAnotherThreadWokeIsNotComplete() {
    let foreign = ScheduleTest { _ in
      await withCheckedContinuation { continuation in
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.01) { continuation.resume() }
      }
    }
    let report = foreign.explore(limit: 50)
    #expect(report.held && !report.isComplete, "\(report)")
  }

  @Test func anExplorationThatTakesAnotherCourseIsNotComplete() {
    let runs = Counter()
    let test = ScheduleTest { _ in
      runs.add()
      // One task more in the first run than in those that repeat its beginning.
      await withTaskGroup { group in
        for _ in 0..<(runs.value == 1 ? 3 : 2) { group.addTask { await Task.yield() } }
      }
    }
    let report = test.explore()
    #expect(report.held && !report.isComplete, "\(report)")
  }

  @Test func aTaskThatAnotherThreadWakesStaysInTheSchedule() {
    let test = ScheduleTest { schedule in
      let inside = Counter()
      let task = Task {
        await withCheckedContinuation { continuation in
          DispatchQueue.global().async { continuation.resume() }
        }
        for _ in 0..<20 {
          inside.add()
          usleep(200)
          inside.add(-1)
          await Task.yield()
        }
      }
      for _ in 0..<200 {
        schedule.expect(inside.value == 0, "two tasks run at once")
        usleep(50)
        await Task.yield()
      }
      await task.value
    }
    let report = test.run(schedules: 20, seed: 1)
    #expect(report.held, "\(report)")
  }

  @Test func theTestWaitsForTheThreadsThatKeepObjects() {
    let test = ScheduleTest { schedule in
      let object = Tracked(schedule.lifetimes)
      Task {
        await withCheckedContinuation { continuation in
          DispatchQueue.global().asyncAfter(deadline: .now() + 0.02) { continuation.resume() }
        }
        withExtendedLifetime(object) {}
      }
    }
    let report = test.run(schedules: 3, seed: 1)
    #expect(report.held, "\(report)")
  }

  @Test func theReportCountsTheScheduleThatAlwaysRuns() {
    let runs = Counter()
    let test = ScheduleTest { _ in
      runs.add()
      await withTaskGroup { group in for _ in 0..<3 { group.addTask {} } }
    }
    #expect(test.run(schedules: 0).schedules == 1)
    #expect(test.run(schedules: -5).schedules == 1)
    #expect(test.explore(limit: 0).schedules == 1)
    #expect(runs.value == 3)
  }

  @Test func unstructuredTasksAreScheduledToo() throws {
    let test = ScheduleTest { schedule in
      let order = Journal()
      let tasks = (0..<3).map { number in Task { order.record(number) } }
      let detached = Task.detached { order.record(3) }
      for task in tasks { await task.value }
      await detached.value
      schedule.expect(order.entries == [0, 1, 2, 3], "\(order.entries)")
    }
    let failure = try #require(test.run(schedules: 1000, seed: 1).failure)
    for _ in 0..<100 {
      #expect(test.replay(seed: failure.seed!).failure?.messages == failure.messages)
    }
  }

  @Test func oneJobRunsAtATime() {
    let test = ScheduleTest { schedule in
      let inside = Counter()
      await withTaskGroup { group in
        for _ in 0..<8 {
          group.addTask {
            for _ in 0..<4 {
              inside.add()
              schedule.expect(inside.value == 1, "\(inside.value) jobs are running")
              inside.add(-1)
              await Task.yield()
            }
          }
        }
      }
    }
    #expect(test.run(schedules: 50, seed: 1).held)
  }

  @Test func aTaskThatWaitsForEverIsADeadlock() throws {
    let test = ScheduleTest(patience: 0.05) { _ in
      let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
      for await _ in stream {}
      withExtendedLifetime(continuation) {}
    }
    let failure = try #require(test.run(schedules: 1, seed: 1).failure)
    #expect(failure.messages == ["deadlock: no task can run, and the first one has not ended"])
  }

  @Test func aTaskThatNeverStopsYieldingIsReported() throws {
    let test = ScheduleTest(stepLimit: 1_000) { _ in
      while !Task.isCancelled { await Task.yield() }
    }
    let failure = try #require(test.run(schedules: 1, seed: 1).failure)
    #expect(failure.messages == ["no end after 1,000 steps"])
  }

  @Test func aTaskThatWaitsByYieldingEndsUnderPriorities() {
    let test = ScheduleTest(order: .priorities(preemptions: 2)) { _ in
      let isSet = Counter()
      let task = Task { isSet.add() }
      while isSet.value == 0 { await Task.yield() }
      await task.value
    }
    #expect(test.run(schedules: 200, seed: 1).held)
  }

  /// What it did while no other task was ready does not count.
  @Test func aTaskThatWasAloneBeforeItWaitsEndsUnderPriorities() {
    let test = ScheduleTest(order: .priorities(preemptions: 0)) { _ in
      for _ in 0..<60 { await Task.yield() }
      let isSet = Counter()
      let task = Task { isSet.add() }
      while isSet.value == 0 { await Task.yield() }
      await task.value
    }
    #expect(test.run(schedules: 50, seed: 1).held)
  }

  @Test func aRoundOfAScenarioEndsSoon() {
    let test = ScheduleTest { _ in usleep(50_000) }
    #expect((1..<16).contains(test.run(schedules: 16, seed: 1, seconds: 0.1).schedules))
  }

  @Test func anObjectThatIsLeftIsReported() throws {
    let leaked = Holder<[Tracked]>([])
    let test = ScheduleTest { schedule in leaked.value?.append(Tracked(schedule.lifetimes)) }
    let failure = try #require(test.run(schedules: 1, seed: 1).failure)
    #expect(failure.messages == ["1 of 1 objects were never destroyed"])
  }

  @Test func anErrorOfTheBodyIsReported() throws {
    struct Wrong: Error {}
    let test = ScheduleTest { _ in throw Wrong() }
    let failure = try #require(test.run(schedules: 1, seed: 1).failure)
    #expect(failure.messages == ["the body threw Wrong()"])
    #expect(throws: StressFailure.self) { try test.check(schedules: 1) }
  }

  @Test func aScheduleThatNeedsAnotherThreadSaysSo() throws {
    let test = ScheduleTest(patience: .infinity) { schedule in
      let gate = Gate()
      let suspended = Task { gate.open() }  // Runs when the first task is suspended.
      let thread = Holder<RunningThread>(nil)
      await withCheckedContinuation { continuation in
        thread.value = RunningThread {
          gate.wait()
          continuation.resume()
        }
      }
      thread.value?.join()
      await suspended.value
      schedule.fail("it always fails")
    }
    let failure = try #require(test.run(schedules: 1, seed: 1).failure)
    #expect(failure.text.contains("another thread woke a task"))
    // Without one it does not say so.
    let alone = try #require(ScheduleTest { $0.fail("always") }.run(schedules: 1, seed: 1).failure)
    #expect(!alone.text.contains("another thread"))
  }

  @Test func aScheduleThatDependsOnSomethingElseSaysSo() throws {
    let runs = Atomic(0)  // Each run is longer than the one before.
    let test = ScheduleTest { schedule in
      let count = runs.add(1, ordering: .relaxed).newValue
      for _ in 0..<count { await Task.yield() }
      schedule.fail("it always fails")
    }
    let failure = try #require(test.run(schedules: 1, seed: 1).failure)
    #expect(failure.text.contains("took another course"))
  }

  @Test func theReportHasAColumnForEachTask() throws {
    let test = ScheduleTest(overdraft)
    let failure = try #require(test.run(schedules: 10_000, seed: 1).failure)
    let lines = failure.text.split(separator: "\n")
    #expect(lines[0].hasPrefix("a schedule of "))
    #expect(
      lines[1].split(separator: "  ").map { $0.trimmingPrefix(" ") } == [
        "step", "task 1", "task 2",
      ])
    #expect(failure.text.contains("may withdraw 80 of 100"))
    #expect(failure.text.contains("repeat with: replay(seed: \(failure.seed!))"))
  }
}

/// An object that is counted.
private final class Tracked: Sendable {
  private let lifetimes: LifetimeTracker

  init(_ lifetimes: LifetimeTracker) {
    self.lifetimes = lifetimes
    lifetimes.noteCreation()
  }

  deinit { lifetimes.noteDestruction() }
}
