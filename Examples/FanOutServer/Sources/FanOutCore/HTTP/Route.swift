internal import HTTPTypes

/// The resource that a path names.
enum Route: Hashable {
  /// The server as a whole: `OPTIONS *`.
  case server
  case page
  case client
  case description
  case health
  case metrics
  case topics
  /// The streams of several topics, and publications to any topics.
  case events
  case topic(Substring)
  case hubs
  case subscribe(Substring)

  /// - Parameter path: without the query.
  init?(_ path: Substring) {
    guard path != "*" else {
      self = .server
      return
    }
    // By bytes, which takes a third of the instructions of a split by characters.
    let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      .map(Substring.init)
    guard parts.first?.isEmpty == true else { return nil }
    switch parts.count {
    case 2 where parts[1].isEmpty: self = .page
    case 2 where parts[1] == "client.js": self = .client
    case 2 where parts[1] == "openapi.json": self = .description
    case 2 where parts[1] == "health": self = .health
    case 2 where parts[1] == "metrics": self = .metrics
    case 2 where parts[1] == "topics": self = .topics
    case 2 where parts[1] == "events": self = .events
    case 2 where parts[1] == "hubs": self = .hubs
    case 3 where parts[1] == "topics": self = .topic(parts[2])
    case 4 where parts[1] == "topics" && parts[3] == "events": self = .subscribe(parts[2])
    default: return nil
    }
  }

  /// The route of a request, and the query.
  ///
  /// - Returns: no route if there is nothing at the path.
  static func parse(_ target: String?) -> (route: Route?, query: Substring?) {
    let target = target ?? ""
    guard let end = target.utf8.firstIndex(of: UInt8(ascii: "?")) else {
      return (Route(target[...]), nil)
    }
    return (Route(target[..<end]), target[end...].dropFirst())
  }

  var methods: [HTTPRequest.Method] {
    switch self {
    case .server: []
    case .page, .client, .description, .health, .metrics, .topics, .hubs: [.get, .head]
    case .events: [.get, .post]
    case .topic: [.get, .head, .post]
    case .subscribe: [.get]
    }
  }

  /// The value of `Allow`.
  var allowed: String { (methods + [.options]).map(\.rawValue).joined(separator: ", ") }

  /// Whether `GET` is answered with a stream.
  var isStream: Bool {
    switch self {
    case .events, .subscribe: true
    default: false
    }
  }

  /// Whether it is also answered when all connections are taken.
  var isMonitoring: Bool { self == .health || self == .metrics }

  /// The path without names of topics.
  var pattern: String {
    switch self {
    case .server: "*"
    case .page: "/"
    case .client: "/client.js"
    case .description: "/openapi.json"
    case .health: "/health"
    case .metrics: "/metrics"
    case .topics: "/topics"
    case .events: "/events"
    case .hubs: "/hubs"
    case .topic: "/topics/NAME"
    case .subscribe: "/topics/NAME/events"
    }
  }
}
