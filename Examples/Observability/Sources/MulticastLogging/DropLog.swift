internal import HubPolling
public import Logging
public import Multicast

/// Logs which hubs drop or refuse events, and for which receivers.
///
/// A full buffer drops as its policy says, perhaps thousands of events a second: a `DropLog` reads
/// the counts of the hubs now and then, and logs at most one line for each hub.
///
/// ```swift
/// HubDirectory.shared.add(prices)
/// let log = DropLog(logger: logger)
/// let logging = Task { await log.run(every: .seconds(30)) }
/// ```
/// It costs senders nothing.
///
/// ## Thread safety
/// An actor. One report is made at a time; the logger is called by the actor.
public actor DropLog {
  private let logger: Logger
  private let limit: Int
  private var history: HubHistory

  /// Creates a log of the hubs of a directory.
  ///
  /// - Parameters:
  ///   - directory: the hubs, also those that are added later.
  ///   - logger: logs with the level `warning`.
  ///   - limit: the most receivers that one line names. A hub of topics may have any number of
  ///     them.
  /// - Precondition: `limit` is not negative.
  public init(of directory: HubDirectory = .shared, logger: Logger, naming limit: Int = 20) {
    precondition(limit >= 0, "a line cannot name \(limit) receivers; use 0 or more.")
    history = HubHistory(of: directory)
    self.logger = logger
    self.limit = limit
  }

  /// Logs what was dropped and refused since the last report; at the first, since each hub began.
  ///
  /// A line has the metadata `hub`, `dropped`, `refused`, and in `receivers` the lines that made
  /// the receivers, the most drops first, and the number of those that it does not name. Receivers
  /// that are gone count in `dropped` only, and as many later drops of the same line are not named.
  ///
  /// - Complexity: O(receivers of all hubs).
  public func report() {
    for change in history.poll() where change.dropped > 0 || change.refused > 0 {
      let receivers = change.droppedByLine.map { (dropped: $0.value, text: $0.key.text) }
        .sorted { $0.dropped == $1.dropped ? $0.text < $1.text : $0.dropped > $1.dropped }
      var texts = receivers.prefix(limit).map { "\($0.text): \($0.dropped)" }
      if receivers.count > limit { texts.append("and \(receivers.count - limit) more") }
      logger.warning(
        "events were dropped or refused",
        metadata: [
          "hub": .string(change.snapshot.name ?? change.snapshot.type),
          "dropped": "\(change.dropped)", "refused": "\(change.refused)",
          "receivers": .array(texts.map { .string($0) }),
        ])
    }
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
