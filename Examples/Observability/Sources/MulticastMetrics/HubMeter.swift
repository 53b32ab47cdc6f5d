internal import CoreMetrics
internal import HubPolling
internal import Multicast

/// What several hubs, or the receivers of one line, have counted together.
struct HubSum {
  var receivers = 0
  var pending = 0
  var delivered = 0
  /// Of hubs: since the last report. Of receivers: since they were registered.
  var dropped = 0
  var refused = 0
  var slowest: Double?

  mutating func add(_ change: HubChange) {
    receivers += change.snapshot.receivers.count
    pending += change.snapshot.pending
    dropped += change.dropped
    refused += change.refused
    for receiver in change.snapshot.receivers { addTime(of: receiver) }
  }

  mutating func add(_ receiver: ReceiverSnapshot) {
    receivers += 1
    pending += receiver.statistics?.pending ?? 0
    delivered += receiver.statistics?.delivered ?? 0
    dropped += receiver.statistics?.dropped ?? 0
    addTime(of: receiver)
  }

  private mutating func addTime(of receiver: ReceiverSnapshot) {
    if let time = receiver.timing?.slowest { slowest = max(slowest ?? 0, time) }
  }
}

/// The metrics of hubs of one name, or of one line.
///
/// The actor that made it has it alone.
final class HubMeter {
  private let label: String
  private let dimensions: [(String, String)]
  private let factory: any MetricsFactory
  private let countsEnds: Bool
  private let counters: [Counter]
  private var gauges: [String: Gauge] = [:]

  /// - Parameter countsEnds: whether it has counters, of dropped and of refused events; otherwise
  ///   gauges of delivered and of dropped ones.
  init(
    _ label: String, _ dimensions: [(String, String)], countsEnds: Bool,
    factory: any MetricsFactory
  ) {
    self.label = label
    self.dimensions = dimensions
    self.factory = factory
    self.countsEnds = countsEnds
    counters =
      countsEnds
      ? ["dropped", "refused"].map {
        Counter(label: "\(label)_\($0)_total", dimensions: dimensions, factory: factory)
      } : []
  }

  func set(to sum: HubSum) {
    record("receivers", sum.receivers)
    record("pending", sum.pending)
    if countsEnds {
      counters[0].increment(by: sum.dropped)
      counters[1].increment(by: sum.refused)
    } else {
      record("delivered", sum.delivered)
      record("dropped", sum.dropped)
    }
    if let slowest = sum.slowest {
      gauge("slowest_call_seconds").record(slowest)
    } else if let gauge = gauges.removeValue(forKey: "slowest_call_seconds") {
      gauge.destroy()
    }
  }

  func destroy() {
    for counter in counters { counter.destroy() }
    for gauge in gauges.values { gauge.destroy() }
  }

  private func record(_ name: String, _ value: Int) {
    gauge(name).record(value)
  }

  private func gauge(_ name: String) -> Gauge {
    if let gauge = gauges[name] { return gauge }
    let gauge = Gauge(label: "\(label)_\(name)", dimensions: dimensions, factory: factory)
    gauges[name] = gauge
    return gauge
  }
}
