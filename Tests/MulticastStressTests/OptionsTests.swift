import Foundation
import Multicast
import Testing

@testable import ConcurrencyStress
@testable import MulticastStress

@Suite struct OptionsTests {
  @Test func noArgumentsMeanTheDefaults() throws {
    let options = try StressOptions([])
    #expect(options.seconds == 10)
    #expect(options.threads == 2 * ProcessInfo.processInfo.activeProcessorCount)
    #expect(options[StressOptions.delegates] == 16)
    #expect(options[StressOptions.mix] == OperationMix(weights: [2, 1, 4, 1]))
    #expect(options.scenarios.isEmpty && options.variants.isEmpty)
    #expect(options.rounds == nil && options.jsonPath == nil)
    #expect(options.stall == 60)
  }

  @Test func everyOptionIsRead() throws {
    let options = try StressOptions([
      "--seconds", "0.5", "--threads", "7", "--delegates", "3", "--mix", "1:0:2:0",
      "--scenario", "removal,churn", "--strategy", "waitFree", "--seed", "42", "--rounds", "9",
      "--json", "a.json", "--stall", "5",
    ])
    #expect(options.seconds == 0.5)
    #expect(options.threads == 7)
    #expect(options[StressOptions.delegates] == 3)
    #expect(options[StressOptions.mix] == OperationMix(weights: [1, 0, 2, 0]))
    #expect(options.scenarios == ["churn", "removal"])
    #expect(options.variants == ["waitFree"])
    #expect(options.seed == 42)
    #expect(options.rounds == 9)
    #expect(options.jsonPath == "a.json")
    #expect(options.stall == 5)
  }

  @Test func aValueMayFollowAnEqualsSign() throws {
    #expect(try StressOptions(["--seed=7"]).seed == 7)
  }

  @Test func aRunWithoutASeedHasANewOne() throws {
    #expect(try StressOptions([]).seed != StressOptions([]).seed)
  }

  @Test(arguments: [
    ["--nonsense"], ["-x"], ["churn"], ["--help=1"], ["--seconds"], ["--seconds="],
    ["--seconds", "0"], ["--seconds", "-1"], ["--seconds", "nan"], ["--seconds", "soon"],
    ["--threads", "0"], ["--threads", "257"], ["--delegates", "0"], ["--rounds", "0"],
    ["--seed", "-1"], ["--seed", "99999999999999999999"], ["--stall", "0"],
    ["--mix", "1:2:3"], ["--mix", "0:1:1:1"], ["--mix", "1:1:0:1"], ["--mix", "1:1:-1:1"],
    ["--mix", "1:1:1:1:1"], ["--scenario", "nonsense"], ["--scenario", "churn,"],
    ["--strategy", "fastest"],
    ["--hours", "0"], ["--hours", "soon"], ["--memory", "0"], ["--state", "a.json"],
    ["--hours", "1", "--rounds", "2"], ["--bad\nname"], ["--scenario", "bad\u{1B}[31m\nname"],
  ])
  func whatCannotBeFollowedIsRefusedInOneLine(_ arguments: [String]) throws {
    let error = #expect(throws: StressOptionError.self) { try StressOptions(arguments) }
    #expect(error?.message.isEmpty == false)
    #expect(error?.message.contains("\n") == false)
  }

  @Test(arguments: [
    (["--list=1"], "--list takes no value"), (["-h="], "-h takes no value"),
    (
      ["--mix", "1000001:1:1:1"],
      "--mix: '1000001:1:1:1' is not four numbers add:remove:invoke:release from 0 to 1000000, of "
        + "which add and invoke are at least 1"
    ),
  ])
  func theErrorSaysWhatIsWrong(_ arguments: [String], _ message: String) throws {
    let error = #expect(throws: StressOptionError.self) { try StressOptions(arguments) }
    #expect(error?.message == message)
  }

  @Test func helpNamesEveryOption() {
    for name in [
      "--seconds", "--rounds", "--threads", "--delegates", "--mix", "--scenario", "--strategy",
      "--seed", "--stall", "--json", "--list", "--help", "--hours", "--state", "--memory",
    ] {
      #expect(Program.stress.help.contains(name))
    }
  }

  @Test func theMixDecidesWhatIsPicked() {
    var generator = SystemRandomNumberGenerator()
    let mix = OperationMix(weights: [1, 0, 3, 0])
    var picked: [OperationMix.Operation: Int] = [:]
    for _ in 0..<4000 { picked[mix.pick(&generator), default: 0] += 1 }
    #expect(Set(picked.keys) == [.add, .invoke])
    // Three in four: 3000, with a standard deviation of 27.
    #expect((2700...3300).contains(picked[.invoke] ?? 0))
  }
}

@Suite struct CommandTests {
  @Test func theCommandRepeatsATrial() throws {
    let options = try StressOptions([
      "--seed", "7", "--threads", "3", "--delegates", "5", "--mix", "1:2:3:4", "--rounds", "6",
    ])
    let trial = Trial(Churn.self, on: .barrierQueue, options, .rounds(6))
    let command = StressReport(Program.stress, options).command(for: trial)
    let repeated = try StressOptions(command.split(separator: " ").dropFirst().map(String.init))
    var expected = options
    expected.scenarios = ["churn"]
    expected.variants = ["barrierQueue"]
    #expect(repeated == expected)
    #expect(repeated[StressOptions.delegates] == 5)
    #expect(repeated[StressOptions.mix] == OperationMix(weights: [1, 2, 3, 4]))
  }
}
