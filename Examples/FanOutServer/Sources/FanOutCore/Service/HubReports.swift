internal import MulticastLogging
internal import MulticastMetrics
internal import NIOCore
internal import ServiceLifecycle

/// Logs what hubs drop, and counts it for `/metrics`, until the service group shuts down.
struct HubReports: Service {
  let drops: DropLog
  let metrics: HubMetrics
  let interval: Duration

  init(_ settings: Settings, _ series: MetricSeries) {
    drops = DropLog(of: settings.hubs, logger: settings.logger)
    metrics = HubMetrics(of: settings.hubs, factory: series)
    interval = .nanoseconds(settings.reportInterval.nanoseconds)
  }

  func run() async {
    await cancelWhenGracefulShutdown {
      async let log: Void = drops.run(every: interval)
      await metrics.run(every: interval)
      await log
    }
  }

  /// What the metrics of ``HubMetrics`` mean.
  static let help = [
    "multicast_receivers":
      "Subscribers of a hub; of the hub of streams, their readers, one for each topic of each.",
    "multicast_pending": "Events that wait for subscribers of a hub.",
    "multicast_dropped_total": "Events that the hub has dropped.",
    "multicast_refused_total": "Events that came after the end of the hub.",
    "multicast_slowest_call_seconds": "The slowest call of a handler, if the hub measures.",
  ]
}
