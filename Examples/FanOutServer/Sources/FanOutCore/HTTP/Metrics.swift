internal import Multicast

/// Metrics of a server in the Prometheus text format.
///
/// Totals only: with one series per topic, clients could create any number of series.
struct Metrics {
  private(set) var text = ""

  init(_ topics: TopicCounts, _ loops: ConnectionLoops.Statistics, _ log: LogStatus) {
    let (totals, retained) = (topics.totals, topics.retained)
    gauge("topics", "Topics with subscribers or kept events.", totals.topics)
    gauge("streams", "Open event streams.", loops.streams)
    gauge(
      "pending_events", "Events that wait, counted per reader: streams may share one.",
      totals.pending)
    gauge("history_events", "Events kept for replay.", retained.events)
    gauge("history_bytes", "Bytes used by events kept for replay.", retained.bytes)
    gauge("log_connected", "Whether events can be published.", log.isConnected ? 1 : 0)
    counter("published_total", "Events published.", totals.published)
    counter("reached_total", "Events put into buffers, counted per subscriber.", totals.reached)
    counter("sent_total", "Events written to connections.", loops.events)
    counter(
      "writes_total", "Writes of events to connections: a busy loop writes several events at once.",
      loops.writes)
    counter(
      "dropped_total", "Events dropped for slow subscribers, counted per subscriber.",
      totals.dropped)
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
