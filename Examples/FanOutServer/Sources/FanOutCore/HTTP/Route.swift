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
    guard let first = path.utf8.first else { return nil }
    let second = path.utf8.index(after: path.startIndex)
    if first == UInt8(ascii: "*"), second == path.endIndex {
      self = .server
      return
    }
    guard first == UInt8(ascii: "/") else { return nil }
    let (name, rest) = Self.split(path[second...])
    if let rest {
      guard name == "topics" else { return nil }
      self.init(ofTopic: rest)
    } else {
      self.init(name: name)
    }
  }

  private init?(name: Substring) {
    switch name {
    case "": self = .page
    case "client.js": self = .client
    case "openapi.json": self = .description
    case "health": self = .health
    case "metrics": self = .metrics
    case "topics": self = .topics
    case "events": self = .events
    case "hubs": self = .hubs
    default: return nil
    }
  }

  /// - Parameter path: what follows `/topics/`.
  private init?(ofTopic path: Substring) {
    let (topic, rest) = Self.split(path)
    switch rest {
    case nil: self = .topic(topic)
    case "events": self = .subscribe(topic)
    default: return nil
    }
  }

  /// The part before the first slash, and what follows the slash; `nil` if there is none.
  ///
  /// By bytes, and without an array of all parts: this halves the instructions of ``parse(_:)``.
  private static func split(_ path: Substring) -> (Substring, Substring?) {
    guard let slash = path.firstIndex(ofASCII: UInt8(ascii: "/")) else { return (path, nil) }
    return (path[..<slash], path[path.utf8.index(after: slash)...])
  }

  /// The route of a request, and the query.
  ///
  /// - Returns: no route if there is nothing at the path.
  static func parse(_ target: String?) -> (route: Route?, query: Substring?) {
    let target = target ?? ""
    guard let end = target.firstIndex(ofASCII: UInt8(ascii: "?")) else {
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
