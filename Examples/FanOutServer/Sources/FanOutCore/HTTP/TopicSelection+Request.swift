internal import HTTPTypes
internal import Multicast

extension Topic {
  /// The topic of a request.
  ///
  /// - Throws: the refusal if the name is not valid, or if `grant` does not allow the topic.
  init(
    _ name: some StringProtocol, _ grant: Grant, _ settings: Settings
  ) throws(RequestError) {
    do {
      self = try Topic(name, limit: settings.maxTopicLength)
    } catch {
      throw .badRequest(error.description)
    }
    guard grant.allows(self.name) else {
      throw .insufficientScope("the token is not for this topic")
    }
  }
}

extension TopicSelection {
  /// The topics of a request for a stream of several topics.
  ///
  /// - Parameter texts: names and patterns.
  /// - Throws: the refusal if one of them is not valid, or if `grant` does not allow all of them.
  init(_ texts: [String], _ grant: Grant, _ settings: Settings) throws(RequestError) {
    guard !texts.isEmpty else {
      throw .badRequest("name the topics of the stream: '?topic=NAME&topic=PATTERN'")
    }
    guard texts.count <= settings.maxStreamTopics else {
      throw .badRequest("a stream has at most \(settings.maxStreamTopics) topics and patterns")
    }
    var names: [Topic] = []
    var patterns: [TopicPattern] = []
    for (index, text) in texts.enumerated() {
      do throws(RequestError) {
        if Self.isPattern(text) {
          patterns.append(try Self.pattern(text, grant, settings))
        } else {
          names.append(try Topic(text, grant, settings))
        }
      } catch {
        // Without the text, which may be anything, in logs too.
        throw RequestError(
          error.status, "'topic' number \(index + 1): \(error.reason)", error.headers)
      }
    }
    // A name is a pattern too.
    self =
      patterns.isEmpty
      ? .names(names) : .patterns(patterns + names.compactMap { TopicPattern($0.name) })
  }

  private static func tokens(_ text: String) -> [Substring] {
    text.split(separator: ".", omittingEmptySubsequences: false)
  }

  private static func isPattern(_ text: String) -> Bool {
    text.utf8.contains { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: ">") }
  }

  private static func pattern(
    _ text: String, _ grant: Grant, _ settings: Settings
  ) throws(RequestError) -> TopicPattern {
    do {
      // With a name instead of each wildcard, a pattern is a topic.
      let names = tokens(text).map { $0 == "*" || $0 == ">" ? "x" : $0 }
      _ = try Topic(names.joined(separator: "."), limit: settings.maxTopicLength)
    } catch {
      throw .badRequest("\(error.description); in a pattern, '*' and '>' are names of their own")
    }
    guard let pattern = TopicPattern(text) else {
      throw .badRequest("in a pattern, '>' is at the end")
    }
    guard grant.covers(pattern) else {
      throw .insufficientScope("the token is not for all topics of this pattern")
    }
    return pattern
  }
}

extension RequestError {
  /// The token is valid, but not for this.
  static func insufficientScope(_ reason: String) -> RequestError {
    RequestError(
      .forbidden, reason, [.wwwAuthenticate: #"Bearer error="insufficient_scope""#])
  }
}
