import ConcurrencyStress
import Testing

/// Known mistakes with tasks and actors: a task schedule finds each within 1,000 schedules, and its
/// seed repeats it. The corrected program holds.
@Suite struct TaskMistakeTests {
  /// The failure that random schedules find; its seed must repeat it.
  private func failure(
    _ body: @escaping @Sendable (Schedule) async throws -> Void
  ) throws -> ScheduleReport.Failure {
    let test = ScheduleTest(patience: 0.05, body)
    let failure = try #require(test.run(schedules: 1_000, seed: 1).failure)
    for _ in 0..<3 {
      let seed = try #require(failure.seed)
      let again = try #require(test.replay(seed: seed).failure)
      #expect(again.messages == failure.messages)
      #expect(again.choices == failure.choices)
    }
    return failure
  }

  private func holds(_ body: @escaping @Sendable (Schedule) async throws -> Void) {
    let report = ScheduleTest(patience: 0.05, body).run(schedules: 1_000, seed: 1)
    #expect(report.held, "\(report)")
  }

  // MARK: Check-then-act across an await

  private actor Account {
    private(set) var balance = 100
    private let audit = Audit()

    func withdraw(_ amount: Int, checksAgain: Bool) async {
      guard balance >= amount else { return }
      await audit.record(amount)
      guard !checksAgain || balance >= amount else { return }
      balance -= amount
    }
  }

  private actor Audit {
    private var records: [Int] = []
    func record(_ amount: Int) { records.append(amount) }
  }

  private static func withdrawTwice(_ schedule: Schedule, checksAgain: Bool) async {
    let account = Account()
    async let first: Void = account.withdraw(80, checksAgain: checksAgain)
    async let second: Void = account.withdraw(80, checksAgain: checksAgain)
    _ = await (first, second)
    let balance = await account.balance
    schedule.expect(balance >= 0, "the balance is \(balance)")
  }

  @Test func aCheckBeforeAnAwaitIsOutOfDateAfterIt() throws {
    let failure = try failure { await Self.withdrawTwice($0, checksAgain: false) }
    #expect(failure.messages == ["the balance is -60"])
    holds { await Self.withdrawTwice($0, checksAgain: true) }
  }

  // MARK: A reentrant actor

  private actor Cache {
    private var values: [Int: Int] = [:]
    private var loading: [Int: Task<Int, Never>] = [:]
    private let source = Source()

    func value(for key: Int, sharesLoads: Bool) async -> Int {
      if let value = values[key] { return value }
      if sharesLoads, let task = loading[key] { return await task.value }
      let task = Task { [source] in await source.load(key) }
      loading[key] = task
      let value = await task.value
      values[key] = value
      return value
    }

    var loads: Int { get async { await source.loads } }
  }

  private actor Source {
    private(set) var loads = 0

    func load(_ key: Int) -> Int {
      loads += 1
      return key * key
    }
  }

  private static func readTwice(_ schedule: Schedule, sharesLoads: Bool) async {
    let cache = Cache()
    async let first = cache.value(for: 3, sharesLoads: sharesLoads)
    async let second = cache.value(for: 3, sharesLoads: sharesLoads)
    let values = await [first, second]
    schedule.expect(values == [9, 9], "\(values)")
    let loads = await cache.loads
    schedule.expect(loads == 1, "the value was loaded \(loads) times")
  }

  @Test func aReentrantActorLoadsTwice() throws {
    let failure = try failure { await Self.readTwice($0, sharesLoads: false) }
    #expect(failure.messages == ["the value was loaded 2 times"])
    holds { await Self.readTwice($0, sharesLoads: true) }
  }

  // MARK: A lost wake-up

  private actor Event {
    private var isSet = false
    private var waiter: CheckedContinuation<Void, Never>?
    private let audit = Audit()

    func set() {
      isSet = true
      waiter?.resume()
      waiter = nil
    }

    func wait(checksLast: Bool) async {
      if !checksLast && isSet { return }
      await audit.record(0)
      if checksLast && isSet { return }
      await withCheckedContinuation { waiter = $0 }
    }
  }

  private static func setAndWait(checksLast: Bool) async {
    let event = Event()
    async let setting: Void = event.set()
    await event.wait(checksLast: checksLast)
    await setting
  }

  @Test func aWakeUpBeforeTheSleepIsLost() throws {
    let failure = try failure { _ in await Self.setAndWait(checksLast: false) }
    #expect(failure.messages == ["deadlock: no task can run, and the first one has not ended"])
    holds { _ in await Self.setAndWait(checksLast: true) }
  }

  // MARK: A double resume

  private actor Reply {
    private var continuation: CheckedContinuation<Int, Never>?
    private let audit = Audit()

    func value() async -> Int {
      await withCheckedContinuation { continuation = $0 }
    }

    /// Forgets the continuation after an await.
    func answer(_ value: Int) async {
      guard let continuation else { return }
      continuation.resume(returning: value)
      await audit.record(value)
      self.continuation = nil
    }
  }

  private static let doubleResume = ScheduleTest { _ in
    let reply = Reply()
    async let value = reply.value()
    async let answer: Void = reply.answer(1)
    async let timeout: Void = reply.answer(2)
    _ = await (answer, timeout)
    await reply.answer(3)  // If both came before the question.
    _ = await value
  }

  @Test func aDoubleResumeEndsTheProcessWithTheSeedThatRepeatsIt() async throws {
    let result = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = Self.doubleResume.run(schedules: 1_000, seed: 1)
    }
    let errors = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(errors.contains("tried to resume its continuation more than once"))
    let notice = "BROKEN  a schedule crashed\nrepeat with: replay(seed: "
    let digits = errors.split(separator: notice).last?.prefix { $0.isNumber } ?? ""
    let seed: UInt64 = try #require(UInt64(digits))
    for _ in 0..<3 {
      let again = try await #require(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) { [seed = seed as UInt64] in
        _ = Self.doubleResume.replay(seed: seed)
      }
      let text = String(decoding: again.standardErrorContent, as: UTF8.self)
      #expect(text.contains("tried to resume its continuation more than once"))
    }
  }
}
