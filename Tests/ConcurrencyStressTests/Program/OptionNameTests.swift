import Foundation
import Testing

@testable import ConcurrencyStress

/// Two options of one name would hide each other.
@Suite struct OptionNameTests {
  private static func number(_ name: String) -> StressOption<Int> {
    .number(name, "a number", default: 1, in: 1...9)
  }

  private static func start(
    _ options: [StressOption<Int>], variants: StressVariants? = nil
  ) {
    _ = StressProgram(
      "name-stress", summary: "Has names.", variants: variants, options: options,
      scenarios: [StressScenario("one", promise: "none") { _ in }])
  }

  @Test func anOptionOfEveryProgramIsNotReplaced() async throws {
    let result = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { Self.start([Self.number("--seed")]) }
    let errors = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(errors.contains("two options of name-stress are called --seed"), "\(errors)")
  }

  @Test func theVariantsHaveANameOfTheirOwn() async throws {
    let result = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      Self.start(
        [Self.number("--queue")],
        variants: StressVariants(option: "--queue", noun: "queue", names: ["locked"]))
    }
    let errors = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(errors.contains("two options of name-stress are called --queue"), "\(errors)")
  }

  @Test func theOptionOfTheVariantsHasHyphens() async throws {
    let result = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = StressVariants(option: "queue", noun: "queue", names: ["locked"]) }
    let errors = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(errors.contains("'queue' is no name of an option: write --name"), "\(errors)")
  }

  @Test func theDefaultValueIsAllowed() async throws {
    let result = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = StressOption.number("--jobs", "a number", default: 0, in: 1...9) }
    let errors = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(
      errors.contains("the default value '0' of --jobs is not a number from 1 to 9"), "\(errors)")
  }
}
