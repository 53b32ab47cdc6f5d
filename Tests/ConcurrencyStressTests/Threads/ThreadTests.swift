import ConcurrencyStress
import Testing

/// Gates and time limits.
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
}
