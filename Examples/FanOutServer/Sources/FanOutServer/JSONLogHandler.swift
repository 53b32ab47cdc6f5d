internal import FanOutCore
internal import Logging
internal import Synchronization

/// Writes each message of the log as one JSON object to standard error.
struct JSONLogHandler: LogHandler {
  /// One line at a time: a pipe may take a long one in parts.
  private static let output = Mutex(())

  let label: String
  var logLevel = Logger.Level.info
  var metadata: Logger.Metadata = [:]

  init(label: String) {
    self.label = label
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    var members = [
      ("time", JSON.string(Timestamp.text(Timestamp.now))),
      ("level", JSON.string(event.level.rawValue)), ("label", JSON.string(label)),
      ("message", JSON.string("\(event.message)")),
    ]
    if let error = event.error { members.append(("error", JSON.string("\(error)"))) }
    let all = metadata.merging(event.metadata ?? [:]) { $1 }
    if !all.isEmpty {
      let fields = all.sorted { $0.key < $1.key }.map { (JSON.string($0), JSON.string("\($1)")) }
      members.append(
        ("metadata", "{" + fields.map { "\($0):\($1)" }.joined(separator: ",") + "}"))
    }
    let line = JSON.object(members)
    Self.output.withLock { _ in writeLine(line, to: 2) }
  }
}
