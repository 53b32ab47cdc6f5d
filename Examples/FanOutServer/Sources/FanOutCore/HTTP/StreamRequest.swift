internal import HTTPTypes

/// Parameters of a stream. The topic of a stream of one topic is in the path.
struct StreamRequest {
  /// The names and patterns of a stream of several topics.
  var topics: [String] = []
  /// The last event that the client has; `nil` if it has none.
  var after: EventID?
  var policy = StreamPolicy.dropOldest
  /// Whether the stream begins with an event, from which a script learns the first id.
  var hasBeginning = false
  /// The token of the query.
  var token: String?
}

extension StreamRequest {
  /// - Parameter hasTopics: whether the query names the topics.
  init(_ headers: HTTPFields, query: Substring?, hasTopics: Bool = false) throws(RequestError) {
    var query = try Query(query)
    if hasTopics { topics = query.takeAll("topic") }
    // For clients that cannot set a header field. The field is newer: a browser keeps the query
    // when it reconnects.
    let text = try query.take("lastEventId", "last-event-id")
    let claim = if let text, !text.isEmpty { try Self.eventID(text) } else { nil as EventID? }
    after = try Self.lastEventID(headers[values: .lastEventID]) ?? claim
    policy = try Self.policy(query.take("policy")) ?? policy
    hasBeginning = try query.takeNumber("begin", in: 1...1) != nil
    token = try query.take("access_token")
    try query.refuseRest((hasTopics ? ["topic"] : []) + ["policy", "lastEventId", "begin"])
  }

  /// Refuses a policy that patterns do not have: what waits for them is not counted.
  func checkPolicy(for topics: TopicSelection) throws(RequestError) {
    guard case .patterns = topics, policy != .dropOldest else { return }
    throw .badRequest("a stream with a pattern has no other policy than dropOldest")
  }

  /// An empty field is as none.
  private static func lastEventID(_ values: [String]) throws(RequestError) -> EventID? {
    guard let value = values.first else { return nil }
    guard values.count == 1 else { throw .badRequest("there is more than one Last-Event-ID") }
    return value.isEmpty ? nil : try eventID(value)
  }

  private static func eventID(_ text: String) throws(RequestError) -> EventID {
    guard let id = EventID(digits: text) else {
      throw .badRequest("Last-Event-ID is not the id of an event: ids are numbers")
    }
    return id
  }

  private static func policy(_ name: String?) throws(RequestError) -> StreamPolicy? {
    guard let name else { return nil }
    guard let policy = StreamPolicy(rawValue: name) else {
      let names = StreamPolicy.allCases.map(\.rawValue).joined(separator: ", ")
      throw .badRequest("there is no such policy, only \(names)")
    }
    return policy
  }
}

extension HTTPField.Name {
  /// The last event that a client has. It gets the events after it.
  static let lastEventID = HTTPField.Name("Last-Event-ID")!
  /// Tells proxies such as nginx not to buffer a stream.
  static let accelBuffering = HTTPField.Name("X-Accel-Buffering")!
}
