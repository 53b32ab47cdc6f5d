/// The place of one subscriber in a ``TopicLog``.
///
/// ## Thread safety
/// One thread at a time: the one that reads for the subscriber.
struct TopicCursor {
  /// The beginning of the log to which `epoch` and `number` belong. 0: the subscriber came before
  /// the log had begun.
  var beginning = 0
  var epoch: UInt64 = 0
  /// The number of the last event that was read, or that the subscriber has.
  var number: UInt64 = 0
  /// Whether the subscriber named a position, and did not begin with the newest event.
  var hasPosition = false
  /// The number of refusals by the log when the subscriber named a position that the log had not
  /// reached; `nil` once it is known whether there is such an event.
  var claim: Int?
  /// By topic, the number up to which the missing events were reported.
  var reported: [String?: UInt64] = [:]

  var position: EventPosition { EventPosition(epoch: epoch, number: number) }
}

/// Events that a reader of a ``TopicLog`` does not find there.
struct MissingEvents {
  /// `nil`: topics that are not kept, or all topics, may have had events.
  let topic: String?
  let after: EventPosition
  let through: EventPosition
  /// Whether an external log may have them.
  var mayBeElsewhere = false
}
