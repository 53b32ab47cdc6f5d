/// A topic of which events are kept.
///
/// ## Thread safety
/// Accessed inside the lock of its ``TopicLog`` alone.
final class KeptTopic {
  let name: String
  /// The number up to which the topic may have had events when it was not kept.
  let floor: UInt64
  var log: RetainedLog

  init(_ name: String, _ log: consuming RetainedLog) {
    self.name = name
    floor = log.trimmedThrough
    self.log = log
  }
}
