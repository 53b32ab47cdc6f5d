/// The base of delegates that note their calls in a log that they share.
class Recorder: @unchecked Sendable {
  // Sendable: the properties never change, and those of subclasses are used by one thread.
  let id: Int
  let log: Log

  required init(_ id: Int, _ log: Log) {
    self.id = id
    self.log = log
  }

  func note(_ line: String) {
    log.note("\(id) \(line)")
  }
}

/// Two delegates of one kind, and their log.
func pair<R: Recorder>(_: R.Type) -> (R, R, Log) {
  let log = Log()
  return (R(1, log), R(2, log), log)
}

/// `line` as each of two delegates notes it.
func both(_ line: String) -> [String] { ["1 \(line)", "2 \(line)"] }
