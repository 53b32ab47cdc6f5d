import Foundation
import Testing

@testable import ConcurrencyStress

@Suite struct WatchdogTests {
  @Test func aTrialThatStandsStillIsDescribedWithTheLastStepOfEveryThread() throws {
    let trial = try counting(["--threads", "2", "--variant", "second"], .rounds(1))
    let stalled = Gate("the watchdog")
    let description = Holder<String>(nil)
    let monitor = Monitor(stall: 0.05, interval: 0.01) {
      description.value = $0
      stalled.open()
    }
    trial.activities[0].begin("invoke")
    trial.activities[1].begin("cancelAndWait")
    monitor.watch(trial, done: 0, share: 1, command: "count-stress --seed 1")
    stalled.wait()
    let lines = description.value?.split(separator: "\n").map(String.init) ?? []
    #expect(
      lines == [
        "STUCK   counting on second: no round has ended for 0.05 s",
        "  thread 0: invoke, after 1 operations",
        "  thread 1: cancelAndWait, after 1 operations",
        "  the rest: begins, after 0 operations",
        "repeat with: count-stress --seed 1",
      ])
  }

  @Test func standingStillEndsTheProcessWithStatus3() async throws {
    let result = try await #require(
      processExitsWith: .exitCode(3), observing: [\.standardErrorContent]
    ) {
      Monitor.endProcess("STUCK   counting")
    }
    #expect(
      String(decoding: result.standardErrorContent, as: UTF8.self).contains("STUCK   counting"))
  }

  @Test func aCrashSaysWhichTrialItWas() async throws {
    let result = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      CrashNotice.prepare("the first crashed", "count-stress --seed 1")
      CrashNotice.prepare("counting on second crashed", "count-stress --seed 1")
      abort()
    }
    let errors = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(errors.contains("BROKEN  counting on second crashed\nrepeat with: count-stress"))
    #expect(!errors.contains("the first"))
  }

  @Test func runsThatPrepareAtOnceKeepTheMemory() async {
    await #expect(processExitsWith: .success) {
      runThreads(4) { _ in
        for _ in 0..<50_000 { CrashNotice.prepare("a trial", "count-stress") }
      }
    }
  }

  @Test(arguments: [false, true])
  func anOverflowOfTheStackSaysWhichTrialItWas(_ hasThread: Bool) async throws {
    func check(_ result: ExitTest.Result) {
      let errors = String(decoding: result.standardErrorContent, as: UTF8.self)
      #expect(errors.contains("BROKEN  counting on second crashed\nrepeat with: count-stress"))
    }
    if hasThread {
      check(
        try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
          CrashNotice.prepare("counting on second crashed", "count-stress --seed 1")
          RunningThread { overflow(1) }.join()
        })
    } else {
      check(
        try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
          await onOwnThread {
            CrashNotice.prepare("counting on second crashed", "count-stress --seed 1")
            overflow(1)
          }
        })
    }
  }

  @Test func aProcessThatNeedsMoreMemoryThanTheLimitBreaksAPromise() throws {
    let trial = try counting([], .rounds(1))
    let monitor = Monitor(stall: 60, memoryLimit: 1, interval: 0.01)
    monitor.watch(trial, done: 0, share: 1, command: "count-stress --seed 1")
    yield { !trial.brokenPromises.isEmpty }
    #expect(trial.brokenPromises[0].contains("above the limit of 1 MB"))
    #expect(trial.brokenPromises.count == 1)
    #expect(monitor.peakMemory > 1 << 20)
  }

  @Test func aTrialThatIsShorterThanTheIntervalBreaksThePromiseOfTheMemoryToo() throws {
    let trial = try counting([], .rounds(1))
    let monitor = Monitor(stall: 60, memoryLimit: 1, interval: 60)
    monitor.watch(trial, done: 0, share: 1, command: "count-stress --seed 1")
    monitor.rest()
    #expect(trial.brokenPromises.count == 1)
    #expect(trial.brokenPromises.first?.contains("above the limit of 1 MB") == true)
  }
}

/// Calls itself until the stack is used up.
private func overflow(_ depth: Int) {
  if depth > 0 { overflow(depth + 1) }
  withExtendedLifetime(depth) {}
}

/// Threads that do not end are reported with their last steps.
@Suite struct StuckThreadTests {
  /// Expects `steps` in the errors of a process whose threads may take so many seconds: more if
  /// they have not come so far, as on a loaded machine.
  private func expect(
    _ steps: [String], _ errors: (_ seconds: Double) async throws -> String
  ) async throws {
    for seconds in [0.2, 2, 20] {
      let errors = try await errors(seconds)
      let last = "threads have not ended within \(seconds) s: they are stuck"
      if seconds < 20, !steps.allSatisfy(errors.contains) { continue }
      for text in [last] + steps { #expect(errors.contains(text), "\(errors)") }
      return
    }
  }

  @Test func aCallThatDoesNotReturnIsNamed() async throws {
    let steps = ["thread 0: wait, after 1 operations", "thread 1: begins, after 0 operations"]
    try await expect(steps) { seconds in
      let result = try await #require(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) { [seconds = seconds as Double] in
        let test = LinearizabilityTest({ Gate() }, model: 0)
          .operation("wait", { $0.wait() }, model: { _ in })
        _ = test.record(
          [HistoryPlan(threads: [[.init(operation: 0, argument: 0)], []])], seed: 1,
          seconds: seconds)
      }
      return String(decoding: result.standardErrorContent, as: UTF8.self)
    }
  }

  @Test func aRoundSaysWhichThreadsAreAtWork() async throws {
    let steps = [
      "thread 0: waits for the others, after 2 operations", "thread 1: works, after 1 operations",
    ]
    try await expect(steps) { seconds in
      let result = try await #require(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) { [seconds = seconds as Double] in
        runRounds(
          threads: 2, seconds: seconds, setUp: { _ in Gate() },
          work: { gate, thread, _ in if thread == 1 { gate.wait() } }, check: { _ in })
      }
      return String(decoding: result.standardErrorContent, as: UTF8.self)
    }
  }
}
