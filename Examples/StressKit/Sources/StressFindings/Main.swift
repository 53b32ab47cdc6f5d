import ConcurrencyStress

/// Runs the stress kit against what the toolchain, Foundation, swift-async-algorithms and
/// OpenCombine offer. A promise here is what a caller might expect; where it breaks, that is a
/// finding.
@main
enum Main {
  static func main() {
    StressProgram(
      "StressFindings",
      summary: "Tries what callers might expect of public packages.",
      scenarios: NotificationCenterFindings.scenarios + ToolchainFindings.scenarios
        + AsyncChannelFindings.scenarios + OpenCombineFindings.scenarios
    ).main()
  }
}
