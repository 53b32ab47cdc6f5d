internal import HTTPTypes
internal import NIOCore

/// Parameters of a publication, apart from the topic and the body.
struct PublishRequest {
  var type: EventType?
  var retryMilliseconds: Int?
  /// The publisher's own id of the event.
  var key: PublicationKey?
}

extension PublishRequest {
  init(_ headers: HTTPFields, query: Substring?) throws(RequestError) {
    if let query { try take(query) }
    let key = try Self.key(headers)
    guard key == nil || self.key == nil else { throw Self.severalKeys }
    self.key = key ?? self.key
  }

  private mutating func take(_ query: Substring) throws(RequestError) {
    var query = try Query(query)
    type = try query.take("event").map(Self.type)
    retryMilliseconds = try query.takeNumber("retry", in: Message.retryRange)
    key = try query.take("id").map(Self.key)
    try query.refuseRest("event", "retry", "id")
  }

  static var severalKeys: RequestError {
    .badRequest("there is more than one Idempotency-Key or 'id'")
  }

  static func type(_ name: String) throws(RequestError) -> EventType {
    guard let type = EventType(name) else {
      throw .badRequest(
        "'event' has 1 to \(EventType.maximumLength) letters, digits, '-', '_', '~' and '.', and is "
          + "none of the server's: 'begin', 'missed' and 'disconnected'")
    }
    return type
  }

  static func milliseconds(_ retry: Duration) throws(RequestError) -> Int {
    let range = Message.retryRange
    guard (.milliseconds(range.lowerBound) ... .milliseconds(range.upperBound)).contains(retry)
    else {
      throw .badRequest("'retry' has \(range.lowerBound) to \(range.upperBound) milliseconds")
    }
    return Int(TimeAmount(retry).nanoseconds / 1_000_000)
  }

  static func key(_ text: some StringProtocol) throws(RequestError) -> PublicationKey {
    guard let key = PublicationKey(text) else {
      throw .badRequest(
        "the 'id' of a publisher has 1 to \(PublicationKey.maximumLength) visible ASCII characters "
          + "other than '\"' and '\\'")
    }
    return key
  }

  /// The publisher's own id of one event in the header; `nil`: there is none.
  static func key(_ headers: HTTPFields) throws(RequestError) -> PublicationKey? {
    let fields = headers[values: .idempotencyKey]
    guard let field = fields.first else { return nil }
    guard fields.count == 1 else { throw severalKeys }
    return try key(unquoted(field))
  }

  /// - Parameter field: a string in quotes, as a structured field has it, or without them.
  private static func unquoted(_ field: String) -> Substring {
    let isQuoted = field.utf8.count >= 2 && field.hasPrefix("\"") && field.hasSuffix("\"")
    return isQuoted ? field.dropFirst().dropLast() : field[...]
  }

  /// - Returns: `nil` if `data` is not UTF-8.
  func message(_ data: ByteBuffer) -> Message? {
    Message(data, type: type, retryMilliseconds: retryMilliseconds, key: key)
  }
}

extension HTTPField.Name {
  /// A publisher's own id of an event.
  static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
}
