internal import BenchmarkHarness

@main
enum Main {
  static func main() {
    let program = BenchmarkProgram(
      "multicast-bench",
      summary: "measures the storage strategies of Multicast side by side",
      workloads: [
        .floor, .invocation, .composite, .retain, .contention, .churn, .registration, .memory,
        .prune,
        .compaction, .queues, .hub, .consumers, .actor, .topics,
      ])
    program.main()
  }
}
