internal import Multicast

/// The topics for which a request is authorized.
enum Grant: Sendable {
  case all
  case patterns([TopicPattern])
}

extension Grant {
  func allows(_ topic: String) -> Bool {
    switch self {
    case .all: true
    case .patterns(let patterns): patterns.contains { $0.matches(topic) }
    }
  }
}
