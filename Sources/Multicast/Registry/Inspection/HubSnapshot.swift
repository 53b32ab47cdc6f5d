/// What a hub looks like at one moment: its receivers, where they were registered, and what waits
/// for them.
///
/// ```swift
/// print(prices.snapshot)
/// // EventHub<Price> "prices": 2 receivers, 12 pending, 0 dropped, 0 refused
/// //   made at        label  topic  receiver  place        age  delivered  pending  dropped
/// //   App/A.swift:7  board         handler   queue ui   3.2 s          4       12        0
/// //   App/B.swift:9                handler   sender                    -        -        -
/// ```
/// Each receiver is read by itself: one that comes or goes meanwhile may or may not be in it.
///
/// ## Thread safety
/// A value: any thread may use its copy.
public struct HubSnapshot: Sendable, Hashable, Codable {
  /// The type of the hub, such as `EventHub<Price>`.
  public let type: String

  /// The name that the hub was given.
  public let name: String?

  /// The delegates or subscribers, in registration order. Those of a ``TopicHub``: of all topics,
  /// then of patterns, then of topics. The patterns and the topics are in no order.
  public let receivers: [ReceiverSnapshot]

  /// The number of events, or of calls of delegates, that were dropped for receivers, also for
  /// those that are gone.
  public let dropped: Int

  /// The number of events that the hub refused because it had finished; 0 for a ``TopicHub``, which
  /// does not count them.
  public let refused: Int

  /// The events and calls that wait for the receivers.
  ///
  /// - Complexity: O(`receivers`).
  public var pending: Int {
    // Wrapping: counts that were decoded may be any numbers, and must not end the process.
    receivers.reduce(0) { $0 &+ ($1.statistics?.pending ?? 0) }
  }
}

/// A delegate or a subscriber of a ``HubSnapshot``.
///
/// ## Thread safety
/// A value: any thread may use its copy.
public struct ReceiverSnapshot: Sendable, Hashable, Codable {
  /// The topic, or the patterns, for a subscriber of a ``TopicHub``; `nil` for all topics and other
  /// hubs.
  public internal(set) var topic: String?

  /// The line that registered it; `nil` for `+=`, `init(_:)` and `first(where:)`.
  public let site: CallSite?

  /// The label that it was given there.
  public let label: String?

  /// The type of a delegate; `handler`, `async handler`, `sequence` or `reader` for a subscriber.
  public let kind: String

  /// Where it is called: `sender`, `queue LABEL`, `actor TYPE`, `task`, or `consumer` for a
  /// sequence or a reader.
  public let place: String

  /// Whether the hub keeps it alive; a subscriber with an owner is not.
  public let isKept: Bool

  /// Whether it is blocked.
  public let isBlocked: Bool

  /// The seconds since it was registered; `nil` unless it has a label, or the hub watched for leaks
  /// or measured calls then.
  public let age: Double?

  /// How long its calls took; `nil` unless the hub measured handlers or delegates when it was
  /// registered.
  public let timing: CallTiming?

  /// What happened to its calls or events; `nil` without a buffer. For a subscriber with positions
  /// that names its topics: what it has read, what it has not, and what it missed because it was
  /// slow; `nil` for others with positions.
  public let statistics: DeliveryStatistics?
}

extension HubSnapshot: CustomStringConvertible {
  /// A line about the hub, and a table with a line for each receiver.
  public var description: String {
    let count = "\(receivers.count) receiver\(receivers.count == 1 ? "" : "s")"
    let title =
      "\(type)\(name.map { " \"\($0)\"" } ?? ""): \(count), \(pending) pending, \(dropped) dropped, "
      + "\(refused) refused"
    guard !receivers.isEmpty else { return title }
    let isMeasured = receivers.contains { $0.timing != nil }
    let heading =
      ["made at", "label", "topic", "receiver", "place", "age", "delivered", "pending", "dropped"]
      + (isMeasured ? ["calls", "last", "slowest"] : [])
    let rows =
      [heading] + receivers.map { $0.columns(isMeasured: isMeasured).map(withoutNewlines) }
    let widths = heading.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    let lines = rows.map { row in
      var line = " "
      for (column, text) in row.enumerated() {
        let space = String(repeating: " ", count: widths[column] - text.count)
        line +=
          " " + (column < 5 ? text + space : space + text) + (column < row.count - 1 ? " " : "")
      }
      while line.last == " " { line.removeLast() }
      return line
    }
    return ([withoutNewlines(title)] + lines).joined(separator: "\n")
  }

  /// `text` on one line, because each receiver has one.
  private func withoutNewlines(_ text: String) -> String {
    String(text.map { $0.isNewline ? " " : $0 })
  }
}

extension ReceiverSnapshot {
  fileprivate func columns(isMeasured: Bool) -> [String] {
    let numbers = statistics.map { ["\($0.delivered)", "\($0.pending)", "\($0.dropped)"] }
    let times = timing.map { ["\($0.calls)", milliseconds($0.last), milliseconds($0.slowest)] }
    return [
      site?.description ?? "-", label ?? "", topic ?? "", kind + (isBlocked ? ", blocked" : ""),
      place, age.map { "\(($0 * 10).rounded() / 10) s" } ?? "",
    ] + (numbers ?? ["-", "-", "-"]) + (isMeasured ? times ?? ["-", "-", "-"] : [])
  }

  private func milliseconds(_ seconds: Double?) -> String {
    seconds.map { "\(($0 * 1_000_000).rounded() / 1000) ms" } ?? "-"
  }
}

extension HubSnapshot: CustomReflectable {
  /// The fields of the hub, and each receiver under its place in the list.
  public var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "type": type, "name": name as Any, "pending": pending, "dropped": dropped,
        "refused": refused, "receivers": receivers,
      ], displayStyle: .struct)
  }
}
