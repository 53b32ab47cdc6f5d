internal import Multicast

/// Where the events of a stream come from: its own reader, or the group of its topic.
struct StreamSource {
  let topics: Topics
  let selection: TopicSelection
  let policy: StreamPolicy
  /// The newest event of all topics when the stream began; `nil` if the client has an id of its
  /// own, or if that is unknown.
  let newest: EventID?
  /// Whether the client has no id, and gets one when the log has begun.
  var lacksID: Bool
  /// `nil` while it is in a group.
  var reader: TopicReader<Event>?
  var group: StreamGroup?
  /// A member of a group has everything up to there.
  var position: EventPosition?
}

extension StreamSource {
  /// Whether each event of the stream names its topic.
  var namesTopics: Bool { selection.namesTopics }

  /// The topic whose group the stream may join.
  ///
  /// A group has the policy ``StreamPolicy/dropOldest``.
  var sharedTopic: Topic? {
    guard case .topic(let topic) = selection, policy == .dropOldest else { return nil }
    return topic
  }
}
