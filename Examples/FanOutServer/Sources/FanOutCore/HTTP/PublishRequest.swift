/// Parameters of a publication, apart from the topic and the body.
struct PublishRequest {
  static let retryMilliseconds = 0...3_600_000

  var type: EventType?
  var retryMilliseconds: Int?
}

extension PublishRequest {
  init(query: Substring?) throws(RequestError) {
    var query = try Query(query)
    if let name = try query.take("event") {
      type = EventType(name)
      guard type != nil else {
        throw .badRequest(
          "'event' has 1 to \(EventType.maximumLength) letters, digits, '-', '_', '~' and '.', and is "
            + "neither 'missed' nor 'disconnected'")
      }
    }
    retryMilliseconds = try query.takeNumber("retry", in: Self.retryMilliseconds)
    try query.refuseRest("event", "retry")
  }
}
