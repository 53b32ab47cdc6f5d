internal import BenchmarkHarness
internal import Dispatch
internal import Foundation

@main
enum Main {
  static func main() {
    // Instruction counters need one thread, and measure nothing of the main actor.
    let countsInstructions = CommandLine.arguments.contains {
      $0 == "--iterations" || $0.hasPrefix("--iterations=")
    }
    if countsInstructions { program.main() }
    // On a thread of its own, so that the main actor runs while it is measured.
    Thread.detachNewThread { program.main() }
    dispatchMain()
  }

  private static var program: BenchmarkProgram {
    BenchmarkProgram(
      "multicast-bench",
      summary: "Measures the storage strategies of Multicast side by side",
      workloads: [
        .floor, .invocation, .timing, .composite, .retain, .contention, .churn, .registration,
        .memory,
        .prune, .capturing, .removal,
        .compaction, .queues, .hub, .isolation, .consumers, .actor, .topics,
        .patterns, .retention,
      ])
  }
}
