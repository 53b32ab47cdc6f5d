internal import Multicast
internal import NIOCore

/// The topics for which a request is authorized.
enum Grant: Sendable {
  case all
  /// The token is valid until the deadline.
  case patterns([TopicPattern], until: NIODeadline)
}

extension Grant {
  func allows(_ topic: String) -> Bool {
    switch self {
    case .all: true
    case .patterns(let patterns, until: _): patterns.contains { $0.matches(topic) }
    }
  }

  /// Whether the grant allows every topic that `pattern` matches, because one of its own patterns
  /// does.
  func covers(_ pattern: TopicPattern) -> Bool {
    switch self {
    case .all: true
    case .patterns(let patterns, until: _): patterns.contains { Self.covers($0, pattern) }
    }
  }

  /// Whether `wider` matches every topic that `pattern` matches.
  private static func covers(_ wider: TopicPattern, _ pattern: TopicPattern) -> Bool {
    var tokens = pattern.description.split(separator: ".")[...]
    for wide in wider.description.split(separator: ".") {
      guard let token = tokens.popFirst() else { return false }
      if wide == ">" { return true }
      guard wide == token || wide == "*" && token != ">" else { return false }
    }
    return tokens.isEmpty
  }

  /// When the streams of the request must end; `nil`: never.
  var end: NIODeadline? {
    switch self {
    case .all: nil
    case .patterns(_, until: let end): end
    }
  }
}
