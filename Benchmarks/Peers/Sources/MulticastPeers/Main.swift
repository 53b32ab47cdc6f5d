internal import BenchmarkHarness

@main
enum Main {
  static func main() {
    let program = BenchmarkProgram(
      "multicast-peers", summary: "Measures Multicast beside what one would use instead",
      workloads: [
        .invocation, .capturing, .contention, .churn, .registration, .memory, .queue, .consumers,
      ], notes: Peer.notes)
    program.main()
  }
}
