#if NATS
  internal import FanOutCore

  /// The subjects of the topics of one prefix.
  ///
  /// A ``Topic`` has no space, no wildcard and no empty part. So its name is valid in a subject,
  /// and its subject matches no other topic.
  struct Subjects: Sendable {
    let prefix: String

    /// The wildcard of all topics.
    var all: String { "\(prefix).>" }

    func subject(of name: String) -> String { "\(prefix).\(name)" }

    /// - Returns: `nil` if `subject` is not one of a topic: other clients may publish to the broker
    ///   too.
    func topic(of subject: String) -> Topic? {
      guard subject.hasPrefix("\(prefix).") else { return nil }
      return try? Topic(subject.dropFirst(prefix.count + 1), limit: .max)
    }
  }
#endif
