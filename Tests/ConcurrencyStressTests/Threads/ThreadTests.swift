import ConcurrencyStress
import Foundation
import Testing

/// Gates, time limits and elements of threads.
@Suite struct ThreadTests {
  @Test func aWaitMayHaveNoLimit() throws {
    let gate = Gate()
    let thread = RunningThread { gate.open() }
    #expect(gate.opens(within: .infinity))
    gate.wait(seconds: .infinity)
    thread.join()
    let forbidden = OutcomeTest(
      { 0 }, actors: [{ _ in }, { _ in }], outcome: { $0 }, expected: [1: .accepted()])
    #expect(!forbidden.run(seconds: .infinity).held)
    let wrong = LinearizabilityTest({ 0 }, model: 0)
      .operation("get", { $0 }, model: { _ in 1 })
    #expect(!wrong.run(seconds: .infinity).held)
    let foreign = ScheduleTest(patience: .infinity) { _ in
      await withCheckedContinuation { continuation in
        Task { @MainActor in continuation.resume() }
      }
    }
    #expect(foreign.run(schedules: 1).held)
  }

  @Test func aThreadMayBeJoinedByMoreThanOne() {
    let thread = RunningThread {}
    runThreads(4) { _ in thread.join() }
    thread.join(deadline: .now())
  }

  @Test func aTrialMayWaitWithoutALimit() throws {
    let trial = try counting([], .rounds(1))
    trial.wait(for: "nothing", patience: .infinity) { true }
    #expect(trial.brokenPromises.isEmpty)
  }

  @Test func aSeedThatIsNoNumberIsReported() async throws {
    let result = try await #require(
      processExitsWith: .success, observing: [\.standardOutputContent]
    ) {
      setenv("STRESS_SEED", "0x7", 1)
      let seed = SplitMix64.runSeed
      fflush(nil)
      exit(seed > 0 ? 0 : 1)
    }
    let output = String(decoding: result.standardOutputContent, as: UTF8.self)
    #expect(output.contains("STRESS_SEED: '0x7' is not a number from 0 to"), "\(output)")
    #expect(output.contains("STRESS_SEED="), "\(output)")
  }

  @Test func aRoundHasAtMostOneThreadMoreThanItsTrial() async throws {
    let result = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let trial = try counting(["--threads", "4"], .rounds(1))
      trial.runRounds(threads: 6) { _ in EmptyRound() }
    }
    let errors = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(errors.contains("6 threads in a round of a trial with 4"), "\(errors)")
  }

  private struct EmptyRound: ScenarioRound {
    func work(_ worker: inout Worker) {}
    func check() {}
  }

  @Test func anElementOfNoThreadTraps() async throws {
    let result = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      PerThread(repeating: 0, threads: 2)[2] = 1
    }
    let errors = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(errors.contains("thread 2: there are 2 elements"), "\(errors)")
  }

  @Test func aNegativeNumberOfThreadsTraps() async throws {
    let result = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      runThreads(-1) { _ in }
    }
    let errors = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(errors.contains("-1 threads cannot run"), "\(errors)")
  }
}
