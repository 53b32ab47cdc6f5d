internal import CoreMetrics
internal import NIOConcurrencyHelpers

/// What the parts of the server report to swift-metrics, in the Prometheus text format: counters
/// and gauges.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class MetricSeries: MetricsFactory {
  /// The values of one name, by labels.
  private struct Family {
    let type: String
    var series: [String: Series] = [:]
  }

  private let families = NIOLockedValueBox<[String: Family]>([:])
  private let help: [String: String]

  /// - Parameter help: what the names mean.
  init(help: [String: String] = [:]) {
    self.help = help
  }
}

/// One value.
private final class Series: CounterHandler, RecorderHandler {
  let name: String
  let labels: String
  private let number = NIOLockedValueBox(0.0)

  init(_ name: String, _ labels: String) {
    self.name = name
    self.labels = labels
  }

  var value: Double { number.withLockedValue { $0 } }

  func increment(by amount: Int64) { number.withLockedValue { $0 += Double(amount) } }

  func reset() { record(0.0) }

  func record(_ value: Int64) { record(Double(value)) }

  func record(_ value: Double) { number.withLockedValue { $0 = value } }
}

// MARK: - The text

extension MetricSeries {
  /// In the order of names and labels.
  var text: String {
    let families = families.withLockedValue { $0 }.sorted { $0.key < $1.key }
    var text = ""
    for (name, family) in families where !family.series.isEmpty {
      if let help = help[name] { text += "# HELP \(name) \(help)\n" }
      text += "# TYPE \(name) \(family.type)\n"
      for (labels, series) in family.series.sorted(by: { $0.key < $1.key }) {
        text += "\(name)\(labels) \(Self.text(of: series.value))\n"
      }
    }
    return text
  }

  /// Without a fraction, if there is none.
  private static func text(of value: Double) -> String {
    Int64(exactly: value).map(String.init) ?? "\(value)"
  }

  private static func labels(_ dimensions: [(String, String)]) -> String {
    guard !dimensions.isEmpty else { return "" }
    let labels = dimensions.map { name, value in
      let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        .replacing("\n", with: "\\n")
      return "\(name)=\"\(escaped)\""
    }
    return "{\(labels.joined(separator: ","))}"
  }
}

// MARK: - What swift-metrics calls

extension MetricSeries {
  func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    series(label, "counter", dimensions)
  }

  /// The last value that was recorded.
  func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> any RecorderHandler {
    series(label, "gauge", dimensions)
  }

  /// None: nothing in the server measures times this way.
  func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    NOOPMetricsHandler.instance
  }

  func destroyCounter(_ handler: any CounterHandler) { remove(handler) }

  func destroyRecorder(_ handler: any RecorderHandler) { remove(handler) }

  func destroyTimer(_ handler: any TimerHandler) {}

  private func series(
    _ name: String, _ type: String, _ dimensions: [(String, String)]
  ) -> Series {
    let labels = Self.labels(dimensions)
    return families.withLockedValue { families in
      if let series = families[name]?.series[labels] { return series }
      let series = Series(name, labels)
      families[name, default: Family(type: type)].series[labels] = series
      return series
    }
  }

  private func remove(_ handler: AnyObject) {
    guard let series = handler as? Series else { return }
    families.withLockedValue { families in
      if families[series.name]?.series[series.labels] === series {
        families[series.name]?.series[series.labels] = nil
      }
    }
  }
}
