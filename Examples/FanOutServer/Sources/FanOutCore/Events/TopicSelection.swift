internal import Multicast

/// The topics of a stream.
enum TopicSelection: Sendable {
  /// One topic: the stream has its events as they were published.
  case topic(Topic)
  /// Several topics: each event of the stream names its topic.
  case names([Topic])
  /// Those that at least one of the patterns matches: each event names its topic.
  case patterns([TopicPattern])
}

extension TopicSelection {
  /// Whether each event of the stream names its topic.
  var namesTopics: Bool {
    if case .topic = self { false } else { true }
  }
}
