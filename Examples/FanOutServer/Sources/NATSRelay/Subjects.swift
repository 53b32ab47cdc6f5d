#if NATS
  internal import FanOutCore

  /// Under which subjects the broker knows the topics of one prefix.
  ///
  /// A ``Topic`` has no space, no wildcard and no empty part, so that its name is a subject as it is,
  /// and no topic's subject matches another topic.
  struct Subjects: Sendable {
    let prefix: String

    /// All of them.
    var all: String { "\(prefix).>" }

    func subject(of topic: Topic) -> String { "\(prefix).\(topic.name)" }

    /// - Returns: `nil` if `subject` is none of these: others may publish to the broker as well.
    func topic(of subject: String) -> Topic? {
      guard subject.hasPrefix("\(prefix).") else { return nil }
      return try? Topic(subject.dropFirst(prefix.count + 1), limit: .max)
    }
  }
#endif
