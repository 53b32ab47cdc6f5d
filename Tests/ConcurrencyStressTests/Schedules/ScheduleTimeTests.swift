import ConcurrencyStress
import Testing

/// Tasks that sleep: their time passes when nothing else is left to run.
@Suite struct ScheduleTimeTests {
  @Test func sleepersWakeInTheOrderOfTheirTimes() {
    let test = ScheduleTest { schedule in
      let order = Journal()
      let clock = schedule.clock
      let start = clock.now
      await withTaskGroup { group in
        for hours in [3, 1, 2] {
          group.addTask {
            try? await clock.sleep(for: .seconds(3600 * hours))
            order.record(hours)
          }
        }
      }
      schedule.expect(order.entries == [1, 2, 3], "\(order.entries)")
      schedule.expect(clock.now == start.advanced(by: .seconds(3 * 3600)), "the time is wrong")
    }
    let began = ContinuousClock.now
    #expect(test.run(schedules: 100, seed: 1).held)
    #expect(ContinuousClock.now - began < .seconds(60))
  }

  @Test func aSleepIsCancelled() {
    let test = ScheduleTest { schedule in
      let clock = schedule.clock
      let task = Task { try await clock.sleep(for: .seconds(3600)) }
      task.cancel()
      let result = await task.result
      schedule.expect(hasThrown(result), "the sleep did not throw")
    }
    #expect(test.run(schedules: 100, seed: 1).held)
  }

  /// And each order with what is ready is tried.
  @Test func aSleepOfNoTimeEndsAtOnce() {
    let isFirst = Guarded<Set<Bool>>([])
    let test = ScheduleTest(stepLimit: 1000) { schedule in
      let isAwake = Counter()
      let clock = schedule.clock
      let task = Task {
        try await clock.sleep(until: clock.now)
        isAwake.add()
      }
      await Task.yield()
      isFirst.withLock { _ = $0.insert(isAwake.value == 1) }
      while isAwake.value == 0 { await Task.yield() }
      _ = await task.result
    }
    #expect(test.run(schedules: 100, seed: 1).held)
    #expect(isFirst.withLock { $0 } == [false, true])
  }

  @Test func timeIsRealAfterTheEnd() async throws {
    let clocks = Guarded<[ScheduleClock]>([])
    let test = ScheduleTest { schedule in clocks.withLock { $0.append(schedule.clock) } }
    #expect(test.run(schedules: 1, seed: 1).held)
    let clock = try #require(clocks.withLock { $0.first })
    let start = clock.now
    try await clock.sleep(for: .milliseconds(1))
    #expect(clock.now >= start.advanced(by: .milliseconds(1)))
  }

  #if os(Linux) && compiler(>=6.3) && compiler(<6.4)
    @Test func sleepingTasksOfOtherClocksTakeNoTime() {
      let test = ScheduleTest { schedule in
        let order = Journal()
        let late = Task {
          try? await Task.sleep(for: .seconds(3600))
          order.record(2)
        }
        let early = Task {
          try? await Task.sleep(nanoseconds: 60_000_000_000)
          order.record(1)
        }
        await late.value
        await early.value
        schedule.expect(order.entries == [1, 2], "\(order.entries)")
      }
      let began = ContinuousClock.now
      #expect(test.run(schedules: 20, seed: 1).held)
      #expect(ContinuousClock.now - began < .seconds(60))
    }

    @Test func aTaskMaySleepUntilItIsCancelled() {
      let test = ScheduleTest { schedule in
        let task = Task { try await Task.sleep(for: .seconds(Int.max / 2)) }
        await Task.yield()
        task.cancel()
        let result = await task.result
        schedule.expect(hasThrown(result), "the sleep did not throw")
      }
      #expect(test.run(schedules: 100, seed: 1).held)
    }
  #endif

  private func hasThrown(_ result: Result<Void, any Error>) -> Bool {
    if case .failure = result { true } else { false }
  }
}
