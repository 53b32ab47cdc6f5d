/// The state of a server in the Prometheus text format.
///
/// Totals only: a series for each topic would let clients make as many series as they like.
struct Metrics {
  private(set) var text = ""

  init(_ board: BoardStatistics, _ loops: ConnectionLoops.Statistics, _ log: LogStatus) {
    let totals = board.totals
    gauge("topics", "Topics with subscribers or kept events.", board.rooms.count)
    gauge("streams", "Open event streams.", loops.streams)
    gauge("pending_events", "Events that wait for a subscriber, one for each.", totals.pending)
    gauge("history_events", "Events kept for replay.", board.historyEvents)
    gauge("history_bytes", "Memory for the events kept for replay.", board.historyBytes)
    gauge("log_connected", "Whether events can be published.", log.isConnected ? 1 : 0)
    counter("published_total", "Events taken in.", totals.published)
    counter("reached_total", "Events put into buffers, one for each subscriber.", totals.reached)
    counter("sent_total", "Events written to connections.", loops.events)
    counter("dropped_total", "Events lost to slow subscribers, one for each.", totals.dropped)
    counter("heartbeats_total", "Heartbeats written to connections.", loops.heartbeats)
  }

  private mutating func gauge(_ name: String, _ help: String, _ value: Int) {
    add(name, "gauge", help, value)
  }

  private mutating func counter(_ name: String, _ help: String, _ value: Int) {
    add(name, "counter", help, value)
  }

  private mutating func add(_ name: String, _ type: String, _ help: String, _ value: Int) {
    text += """
      # HELP fanout_\(name) \(help)
      # TYPE fanout_\(name) \(type)
      fanout_\(name) \(value)

      """
  }
}
