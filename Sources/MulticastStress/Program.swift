import ConcurrencyStress
import Multicast

/// The program: tries to break every promise of the library.
@main
enum Program {
  static let stress = StressProgram(
    "multicast-stress",
    summary: """
      Tries to break every promise of the library: runs each scenario on each storage strategy,
      and checks what happened against what may happen.
      """,
    variants: StressVariants(
      option: "--strategy", noun: "storage strategy",
      names: StorageStrategy.allCases.map(\.rawValue)),
    options: [StressOptions.delegates, StressOptions.mix],
    scenarios: Scenarios.all.map { StressScenario($0) },
    examples: [
      "multicast-stress --seconds 60 --strategy waitFree",
      "multicast-stress --scenario churn,removal --threads 8 --mix 3:2:8:1",
      "multicast-stress --hours 8 --state night.json --json report.json",
    ])

  static func main() {
    stress.main()
  }
}
