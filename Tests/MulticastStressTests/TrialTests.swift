import ConcurrencyStress
import Foundation
import Multicast
import Synchronization
import Testing

@testable import MulticastStress

/// A scenario that breaks a promise in its third round.
private enum Breaking: Scenario {
  static let name = "breaking"
  static let promise = "nothing"

  static func run(_ trial: Trial) {
    trial.runRounds { _ in BreakingRound(trial: trial) }
  }
}

private struct BreakingRound: ScenarioRound {
  let trial: Trial
  let counter = Counter()

  func work(_ worker: inout Worker) {
    worker.begin("adds")
    counter.add()
  }

  func check() {
    trial.expect(counter.value == trial.threads, "a worker was missing")
    trial.expect(trial.rounds < 2, "three rounds are too many")
  }
}

@Suite struct TrialTests {
  private func trial(
    _ scenario: any Scenario.Type, _ arguments: [String] = ["--threads", "3"], rounds: Int = 5
  ) throws -> Trial {
    Trial(scenario, on: .waitFree, try StressOptions(arguments), .rounds(rounds))
  }

  @Test(arguments: Scenarios.all.map { $0.name }, StorageStrategy.allCases)
  func everyScenarioHolds(_ name: String, _ storage: StorageStrategy) async throws {
    let scenario = try #require(Scenarios.all.first { $0.name == name })
    // Tasks may have to wait for all the other tests, with which they share the pool of threads.
    let options = try StressOptions(["--threads", "3", "--stall", "1200"])
    let trial = Trial(scenario, on: storage, options, .rounds(2))
    await onOwnThread { scenario.run(trial) }
    #expect(trial.brokenPromises == [])
    #expect(trial.rounds == 2)
    #expect(trial.operations > 0)
  }

  @Test func aBrokenPromiseEndsTheTrial() async throws {
    let trial = try trial(Breaking.self)
    await onOwnThread { Breaking.run(trial) }
    #expect(trial.brokenPromises == ["three rounds are too many (round 2)"])
    #expect(trial.rounds == 3)
    #expect(trial.operations == 18)
  }

  @Test func aCallThatComesTooLateIsABrokenPromise() throws {
    let trial = try trial(Breaking.self)
    let target = Target(0, trial.lifetimes)
    target.noteCall()
    #expect(trial.lifetimes.lateCalls == 0)
    target.poison()
    target.noteCall()
    withExtendedLifetime(target) { trial.checkLifetimes() }
    #expect(trial.brokenPromises.count == 2)  // It still lives, too.
  }

  @Test func whatNeverHappensIsABrokenPromise() throws {
    let trial = try trial(Breaking.self)
    trial.wait(for: "nothing came", patience: 0.01) { false }
    #expect(trial.brokenPromises.count == 1)
    trial.wait(for: "nothing came", patience: 0.01) { true }
    #expect(trial.brokenPromises.count == 1)
  }

  @Test func progressGoesFrom0To1() async throws {
    let trial = try trial(Breaking.self, rounds: 6)
    #expect(trial.progress == 0)
    await onOwnThread { Breaking.run(trial) }
    #expect(trial.progress == 0.5)
    let over = Trial(
      Breaking.self, on: .locked, try StressOptions([]), .until(.now.advanced(by: .nanoseconds(1))))
    #expect(over.progress == 1)
  }

  @Test func theSameSeedGivesTheSameNumbers() throws {
    func numbers(_ seed: String, worker: Int) throws -> [UInt64] {
      var generator = try trial(Breaking.self, ["--seed", seed]).generator(for: worker)
      return (0..<4).map { _ in generator.next() }
    }
    #expect(try numbers("1", worker: 0) == numbers("1", worker: 0))
    #expect(try numbers("1", worker: 0) != numbers("1", worker: 1))
    #expect(try numbers("1", worker: 0) != numbers("2", worker: 0))
  }
}
