internal import HTTPTypes

/// Parameters of a stream, apart from the topic.
struct StreamRequest {
  /// The last event that the client has; `nil` if it has none.
  var after: EventID?
  var policy = StreamPolicy.dropOldest
}

extension StreamRequest {
  init(_ headers: HTTPFields, query: Substring?) throws(RequestError) {
    after = try Self.lastEventID(headers[values: .lastEventID])
    policy = try Self.policy(query) ?? policy
  }

  private static func lastEventID(_ values: [String]) throws(RequestError) -> EventID? {
    guard let value = values.first else { return nil }
    guard values.count == 1 else { throw .badRequest("there is more than one Last-Event-ID") }
    guard value.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      let id = EventID(value)
    else {
      throw .badRequest("Last-Event-ID is not the id of an event: ids are numbers")
    }
    return id
  }

  private static func policy(_ query: Substring?) throws(RequestError) -> StreamPolicy? {
    guard let query, !query.isEmpty else { return nil }
    var policy: StreamPolicy?
    for parameter in query.split(separator: "&", omittingEmptySubsequences: false) {
      let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts[0] == "policy", parts.count == 2 else {
        throw .badRequest("the only parameter of a stream is 'policy=…'")
      }
      guard policy == nil else { throw .badRequest("there is more than one policy") }
      policy = StreamPolicy(rawValue: String(parts[1]))
      guard policy != nil else {
        let names = StreamPolicy.allCases.map(\.rawValue).joined(separator: ", ")
        throw .badRequest("there is no such policy, only \(names)")
      }
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
