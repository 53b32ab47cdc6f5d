internal import Foundation

/// A test that runs two or more actors against each other many times, each time with a new state,
/// and counts how often each outcome came.
///
/// ```swift
/// let test = OutcomeTest(
///   { Cell() },
///   actors: [{ $0.increment() }, { $0.increment() }],
///   outcome: { $0.value },
///   expected: [2: .accepted("both count"), 1: .forbidden("an increment is lost")])
/// try test.check(seconds: 5)
/// ```
///
/// An outcome that is not listed is forbidden.
///
/// ## Thread safety
/// A value. Each actor runs on a thread of its own; `state` and `outcome` run on one of them, while
/// the others wait.
public struct OutcomeTest<State: Sendable, Outcome: Hashable & Sendable>: Sendable {
  private let state: @Sendable () -> State
  private let actors: [@Sendable (State) -> Void]
  private let outcome: @Sendable (State) -> Outcome
  private let expected: [Outcome: Expectation]
  /// The outcomes, in the order of the list.
  private let order: [Outcome]

  /// Creates a test of one small race.
  ///
  /// - Parameters:
  ///   - state: makes what the actors share. Called for each round.
  ///   - actors: what the threads do with it, each once.
  ///   - outcome: the result of a round. Called when its actors are done.
  ///   - expected: what each outcome means. One that is not listed is forbidden.
  /// - Precondition: there are two actors or more, and no outcome is listed twice.
  public init(
    _ state: @escaping @Sendable () -> State,
    actors: [@Sendable (State) -> Void],
    outcome: @escaping @Sendable (State) -> Outcome,
    expected: KeyValuePairs<Outcome, Expectation>
  ) {
    require(actors.count >= 2, "\(actors.count) actors: a race needs two")
    self.state = state
    self.actors = actors
    self.outcome = outcome
    order = expected.map(\.key)
    self.expected = Dictionary(expected.map { ($0, $1) }) { _, _ in
      fatalError("an outcome is listed twice")
    }
  }
}

extension OutcomeTest {
  /// Runs rounds until the time is over, and throws the table if a forbidden outcome came.
  ///
  /// - Parameters:
  ///   - seconds: how long. The test ends earlier when a forbidden outcome has come.
  ///   - seed: repeats how the actors are delayed; that of the run if `nil`.
  /// - Returns: the table, in which every outcome was allowed.
  /// - Throws: ``StressFailure``.
  @discardableResult
  public func check(
    seconds: Double = 5, seed: UInt64? = nil
  ) throws(StressFailure) -> OutcomeTable<Outcome> {
    let table = run(seconds: seconds, seed: seed)
    guard table.held else {
      throw StressFailure("a forbidden outcome came (seed \(table.seed)):\n\n\(table)")
    }
    return table
  }

  /// Runs rounds until the time is over or a forbidden outcome has come.
  ///
  /// - Parameters:
  ///   - seconds: how long.
  ///   - seed: repeats how the actors are delayed; that of the run if `nil`.
  /// - Returns: the table.
  public func run(seconds: Double = 5, seed: UInt64? = nil) -> OutcomeTable<Outcome> {
    let end = ContinuousClock.now.advanced(by: .seconds(seconds.asWait))
    var table = OutcomeTable(seed: seed ?? SplitMix64.runSeed, expected: expected, order: order)
    repeat {
      table.add(race(500, until: end, seed: table.nextSeed))
    } while table.held && .now < end
    return table
  }

  /// Runs a number of rounds.
  ///
  /// - Parameters:
  ///   - rounds: how many.
  ///   - seed: repeats how the actors are delayed; that of the run if `nil`.
  /// - Returns: the table.
  public func run(rounds: Int, seed: UInt64? = nil) -> OutcomeTable<Outcome> {
    var table = OutcomeTable(seed: seed ?? SplitMix64.runSeed, expected: expected, order: order)
    table.add(race(rounds, until: nil, seed: table.nextSeed))
    return table
  }

  /// A scenario of a ``StressProgram`` that runs this test.
  ///
  /// - Parameters:
  ///   - name: what the command line calls it.
  ///   - promise: what must hold, in a line.
  /// - Returns: the scenario.
  public func scenario(_ name: String, promise: String) -> StressScenario {
    StressScenario(name, promise: promise) { trial in
      while !trial.isOver {
        var generator = trial.generator(for: -1)
        var table = OutcomeTable(seed: generator.next(), expected: expected, order: order)
        // The watchdog waits for the end of a round, however long the actors take.
        table.add(race(200, until: .now + .seconds(1), seed: table.nextSeed))
        trial.activities[0].add(table.rounds * actors.count)
        trial.expect(table.held, "a forbidden outcome came\n\(table)")
        trial.completeRound()
      }
    }
  }

  private func race(
    _ rounds: Int, until end: ContinuousClock.Instant?, seed: UInt64
  ) -> [Outcome: Int] {
    ConcurrencyStress.race(
      rounds: rounds, until: end, seed: seed, setUp: state, actors: actors, outcome: outcome)
  }
}
