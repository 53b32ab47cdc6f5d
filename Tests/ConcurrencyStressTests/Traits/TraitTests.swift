import ConcurrencyStress
import ConcurrencyStressTesting
import Testing

/// The traits repeat a test until it fails, and name the seed of the failure.
@Suite struct TraitTests {
  /// What a trait records for this function.
  private func issues(
    _ trait: some TestTrait & TestScoping, _ function: @concurrent @Sendable () async throws -> Void
  ) async throws -> [String] {
    let issues = Holder<[String]>([])
    let test = try #require(Test.current)
    try await withKnownIssue(isIntermittent: true) {
      try await trait.provideScope(for: test, testCase: Test.Case.current, performing: function)
    } matching: { issue in
      issues.value?.append(issue.comments.map(\.rawValue).joined() + "\(issue)")
      return true
    }
    return issues.value ?? []
  }

  @Test func everyRoundHasAnotherSeed() async throws {
    let seeds = Holder<Set<UInt64>>([])
    let found = try await issues(StressTrait.stress(rounds: 20)) {
      seeds.value?.insert(StressRound.current.seed)
    }
    #expect(found.isEmpty)
    #expect(seeds.value?.count == 20)
  }

  @Test func aRoundThatFailsIsTheLastOneAndNamesItsSeed() async throws {
    let rounds = Counter()
    let found = try await issues(StressTrait.stress(rounds: 20)) {
      rounds.add()
      #expect(StressRound.current.number != 7)
    }
    #expect(rounds.value == 8)
    let seed = SplitMix64.runSeed &+ 7
    #expect(found.count == 2)
    #expect(found.last?.contains("round 7 failed; repeat it with .stress(seed: \(seed))") == true)
  }

  @Test func theIssueWithTheSeedIsAtTheTest() async throws {
    let test = try #require(Test.current)
    let traits: [any TestTrait & TestScoping] = [
      StressTrait.stress(rounds: 1), ScheduleTrait.schedules(1),
    ]
    for trait in traits {
      let places = Holder<[SourceLocation?]>([])
      try await withKnownIssue {
        try await trait.provideScope(for: test, testCase: Test.Case.current) {
          #expect(Bool(false))
        }
      } matching: { issue in
        places.value?.append(issue.sourceLocation)
        return true
      }
      #expect(places.value?.count == 2)
      #expect(places.value?.last == test.sourceLocation)
    }
  }

  @Test func anErrorIsAFailureToo() async throws {
    struct Wrong: Error {}
    let rounds = Counter()
    let found = try await issues(StressTrait.stress(rounds: 20)) {
      rounds.add()
      throw Wrong()
    }
    #expect(rounds.value == 1)
    #expect(found.contains { $0.contains("round 0 failed") })
  }

  #if compiler(>=6.3)
    @Test func aWarningIsNoFailure() async throws {
      let rounds = Counter()
      let function: @concurrent @Sendable () async -> Void = {
        rounds.add()
        Issue.record("this takes long", severity: .warning)
      }
      let stress = try await issues(StressTrait.stress(rounds: 5), function)
      #expect(rounds.value == 5)
      #expect(stress.count == 5)
      let schedules = try await issues(ScheduleTrait.schedules(5), function)
      #expect(rounds.value == 10)
      #expect(schedules.count == 5)
    }
  #endif

  @Test func theSeedRepeatsTheRound() async throws {
    let numbers = Holder<[UInt64]>([])
    for _ in 0..<2 {
      _ = try await issues(StressTrait.stress(seed: 42)) {
        var generator = StressRound.current.generator
        numbers.value?.append(generator.next())
      }
    }
    #expect(numbers.value?.count == 2)
    #expect(numbers.value?.first == numbers.value?.last)
  }

  @Test func aScheduleThatFailsNamesItsSeedWhichRepeatsIt() async throws {
    let orders = Holder<[[Int]]>([])
    let function: @concurrent @Sendable () async -> Void = {
      let order = Journal()
      async let first: Void = order.record(1)
      async let second: Void = order.record(2)
      _ = await (first, second)
      orders.value?.append(order.entries)
      #expect(order.entries == [1, 2])
    }
    let found = try await issues(ScheduleTrait.schedules(100), function)
    let message = try #require(found.last as String?)
    let seed = try #require(
      message.split(separator: "in the test: .schedules(seed: ").last?.prefix { $0.isNumber })
    #expect(orders.value?.last == [2, 1])
    for _ in 0..<10 {
      orders.value = []
      let again = try await issues(ScheduleTrait.schedules(seed: UInt64(seed)!), function)
      #expect(orders.value == [[2, 1]])
      #expect(again.count == found.count)
    }
  }

  @Test func prioritiesNeedOneRunMore() async throws {
    let runs = Counter()
    let found = try await issues(
      ScheduleTrait.schedules(20, order: .priorities(preemptions: 1))
    ) { runs.add() }
    #expect(found.isEmpty)
    #expect(runs.value == 21)
  }

  @Test func aFirstRunThatFailsIsTheLastOneAndNamesItsSeed() async throws {
    let runs = Counter()
    let function: @concurrent @Sendable () async -> Void = {
      runs.add()
      #expect(runs.value != 1)
    }
    let order = ScheduleOrder.priorities(preemptions: 1)
    let found = try await issues(ScheduleTrait.schedules(20, order: order), function)
    #expect(runs.value == 1)
    let call = ".schedules(seed: \(SplitMix64.runSeed), order: .priorities(preemptions: 1))"
    #expect(found.last?.contains("in the test: \(call)") == true, "\(found)")
  }

  @Test(.stress(rounds: 3)) func aTestMayHaveTheTrait() {
    #expect(StressRound.current.number < 3)
  }

  @Test(.schedules(50, order: .priorities(preemptions: 2))) func aTestMayRunUnderSchedules()
    async throws
  {
    let schedule = try #require(ScheduleTrait.current)
    let order = Journal()
    await withTaskGroup { group in
      for number in 0..<3 {
        group.addTask {
          try? await schedule.clock.sleep(for: .seconds(number))
          order.record(number)
        }
      }
    }
    #expect(order.entries == [0, 1, 2])
  }
}

private let stressRounds = Counter()
private let scheduleRuns = Counter()

/// The trait of a test takes the place of that of its suite.
@Suite(.stress(rounds: 3), .serialized) struct StressTraitOfSuiteTests {
  @Test(.stress(seed: 7)) func onlyOneRoundRuns() {
    stressRounds.add()
    #expect(stressRounds.value == 1)
    #expect(StressRound.current.seed == 7)
  }
}

@Suite(.schedules(2)) struct ScheduleTraitOfSuiteTests {
  @Test(.schedules(seed: 7)) func onlyOneScheduleRuns() async {
    scheduleRuns.add()
    #expect(scheduleRuns.value == 1)
  }

  @Test(.schedules(2)) func aSlowScheduleIsNoDeadlock() async {
    let end = ContinuousClock.now + .seconds(1.2)
    while .now < end {}
  }
}
