public import CoreMetrics
internal import HubPolling
public import Multicast

/// Reports what hubs count to swift-metrics.
///
/// ```swift
/// HubDirectory.shared.add(prices)
/// let metrics = HubMetrics()
/// let reporting = Task { await metrics.run(every: .seconds(10)) }
/// ```
/// | metric | | |
/// |---|---|---|
/// | `multicast_receivers` | gauge | delegates or subscribers |
/// | `multicast_pending` | gauge | events and calls that wait |
/// | `multicast_dropped_total` | counter | events that were dropped |
/// | `multicast_refused_total` | counter | events that came after the end; 0 of a `TopicHub`, which does not count them |
/// | `multicast_slowest_call_seconds` | gauge | the slowest measured call of a receiver that is registered, if the hub measures |
///
/// The dimension `hub` is the name of the hub, or its type if it has none. Hubs of one name count
/// together. With ``Detail/lines``, `multicast_line_receivers`, `_pending`, `_delivered`,
/// `_dropped` and `_slowest_call_seconds` are gauges with the dimensions `hub`, `line`, `label` and
/// `topic`: what the receivers that one line of the program registered have counted, until they
/// end. A line of a hub with many topics has one of each for each topic.
///
/// It reads snapshots, and costs senders nothing. Metrics of hubs and lines that are gone are
/// destroyed. What a hub counts between the last report and its end is lost.
///
/// ## Thread safety
/// An actor. One report is made at a time; the metrics are made and changed by the actor.
public actor HubMetrics {
  /// What the metrics tell apart.
  ///
  /// ## Thread safety
  /// A value: any thread may use its copy.
  public enum Detail: Sendable, Hashable, CaseIterable {
    /// Hubs.
    case hubs
    /// Hubs, and the lines that registered their receivers.
    case lines
  }

  private let detail: Detail
  private let label: String
  private let factory: any MetricsFactory
  private var history: HubHistory
  private var meters: [[String]: HubMeter] = [:]

  /// Creates a reporter of the hubs of a directory.
  ///
  /// - Parameters:
  ///   - directory: the hubs, also those that are added later.
  ///   - detail: what the metrics tell apart.
  ///   - label: the first part of the names of the metrics.
  ///   - factory: makes the metrics; `nil`: that of `MetricsSystem` where this is called.
  public init(
    of directory: HubDirectory = .shared, detail: Detail = .hubs, label: String = "multicast",
    factory: (any MetricsFactory)? = nil
  ) {
    history = HubHistory(of: directory)
    self.detail = detail
    self.label = label
    self.factory = factory ?? MetricsSystem.factory
  }

  /// Creates a reporter of one hub, which it does not keep alive.
  ///
  /// - Parameters:
  ///   - hub: the hub.
  ///   - detail: what the metrics tell apart.
  ///   - label: the first part of the names of the metrics.
  ///   - factory: makes the metrics; `nil`: that of `MetricsSystem` where this is called.
  public init(
    of hub: some InspectableHub & Sendable, detail: Detail = .hubs, label: String = "multicast",
    factory: (any MetricsFactory)? = nil
  ) {
    let directory = HubDirectory()
    directory.add(hub)
    self.init(of: directory, detail: detail, label: label, factory: factory)
  }

  /// Reads the hubs, and sets the metrics: for example before a scrape.
  ///
  /// - Complexity: O(receivers of all hubs).
  public func report() {
    var sums: [[String]: HubSum] = [:]
    for change in history.poll() {
      let hub = change.snapshot.name ?? change.snapshot.type
      sums[[hub], default: HubSum()].add(change)
      guard detail == .lines else { continue }
      for receiver in change.snapshot.receivers {
        let line = ReceiverLine(of: receiver)
        let place = line.site?.description ?? ""
        sums[[hub, place, line.label ?? "", line.topic ?? ""], default: HubSum()].add(receiver)
      }
    }
    for (place, sum) in sums { meter(of: place).set(to: sum) }
    for (place, meter) in meters where sums[place] == nil {
      meter.destroy()
      meters[place] = nil
    }
  }

  private func meter(of place: [String]) -> HubMeter {
    if let meter = meters[place] { return meter }
    let isLine = place.count > 1
    let dimensions = Array(zip(["hub", "line", "label", "topic"], place))
    let meter = HubMeter(
      label + (isLine ? "_line" : ""), dimensions, countsEnds: !isLine, factory: factory)
    meters[place] = meter
    return meter
  }

  /// Reports at once, after each interval, and when the task is cancelled; then it returns.
  ///
  /// - Parameters:
  ///   - interval: the time between two reports.
  ///   - clock: measures it.
  /// - Precondition: `interval` is more than zero.
  public func run<C: Clock>(
    every interval: Duration, clock: C = .continuous
  ) async where C.Duration == Duration {
    await poll(every: interval, on: clock, isolation: self) { report() }
  }
}
