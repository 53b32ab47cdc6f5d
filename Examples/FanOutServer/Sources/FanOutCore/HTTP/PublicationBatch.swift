internal import HTTPTypes
internal import NIOCore

/// Events as JSON: one object, or one object per line.
struct PublicationBatch: Sendable {
  /// How a body contains events.
  enum Format: Sendable {
    /// `application/json`: one event.
    case object
    /// `application/x-ndjson`: an event per line.
    case lines
  }

  private(set) var publications: [Publication] = []
}

extension PublicationBatch.Format {
  /// - Throws: the refusal of another `Content-Type`.
  init(_ headers: HTTPFields) throws(RequestError) {
    switch MediaType.name(headers) {
    case "application/json": self = .object
    case "application/x-ndjson", "application/ndjson", "application/jsonl": self = .lines
    default:
      throw RequestError(
        .unsupportedMediaType,
        "this path takes application/json and application/x-ndjson (Content-Type)")
    }
  }
}

extension PublicationBatch {
  private static let members: Set = ["topic", "data", "event", "id", "retry"]

  /// - Parameter key: the publisher's own id in the header; only one event may have it there.
  /// - Throws: the refusal of the first event that is not valid, with the number of its line.
  init(
    _ body: ByteBuffer, _ format: Format, _ key: PublicationKey?, _ grant: Grant,
    _ settings: Settings
  ) throws(RequestError) {
    guard format == .lines else {
      publications = [try Self.publication(body.readableBytesView, key, grant, settings)]
      return
    }
    guard key == nil else {
      throw .badRequest("an Idempotency-Key is for one event: in lines, the member 'id' has it")
    }
    /// The lines of the events with keys.
    var keys: [PublicationKeys.Name: Int] = [:]
    let lines = body.readableBytesView.split(
      separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() where !line.allSatisfy(Self.isSpace) {
      do throws(RequestError) {
        guard publications.count < settings.maxBatchEvents else {
          throw RequestError(
            .contentTooLarge, "a batch has at most \(settings.maxBatchEvents) events")
        }
        let publication = try Self.publication(line, nil, grant, settings)
        if let key = publication.message.key {
          let name = PublicationKeys.Name(topic: publication.topic, key: key)
          if let first = keys.updateValue(index + 1, forKey: name) {
            throw .badRequest("line \(first) has the same 'topic' and 'id'")
          }
        }
        publications.append(publication)
      } catch {
        throw RequestError(error.status, "line \(index + 1): \(error.reason)", error.headers)
      }
    }
    guard !publications.isEmpty else { throw .badRequest("there is no event") }
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0d
  }

  private static func publication(
    _ text: some Collection<UInt8>, _ key: PublicationKey?, _ grant: Grant, _ settings: Settings
  ) throws(RequestError) -> Publication {
    let object: JSONObject
    do {
      object = try JSONObject(text)
    } catch {
      throw .badRequest(error.description)
    }
    guard object.members.keys.allSatisfy(members.contains) else {
      throw .badRequest("the members of an event are 'topic', 'data', 'event', 'id' and 'retry'")
    }
    guard let name = try object.string("topic") else { throw .badRequest("there is no 'topic'") }
    let topic = try Topic(name, grant, settings)
    guard let data = object.members["data"] else { throw .badRequest("there is no 'data'") }
    let buffer = ByteBuffer(string: data.text)
    guard buffer.readableBytes <= settings.maxEventBytes else {
      throw .tooLong(settings.maxEventBytes)
    }
    var request = PublishRequest()
    request.type = try object.string("event").map(PublishRequest.type)
    request.key = try object.string("id").map(PublishRequest.key)
    guard key == nil || request.key == nil else { throw PublishRequest.severalKeys }
    request.key = key ?? request.key
    request.retryMilliseconds = try object.retryMilliseconds()
    guard let message = request.message(buffer) else { throw .badRequest("'data' is not UTF-8") }
    return Publication(message: message, topic: topic)
  }
}

extension JSONObject {
  fileprivate func string(_ name: String) throws(RequestError) -> String? {
    switch members[name] {
    case nil: return nil
    case .string(let text): return text
    case .other: throw .badRequest("'\(name)' is not a string")
    }
  }

  fileprivate func retryMilliseconds() throws(RequestError) -> Int? {
    guard let value = members["retry"] else { return nil }
    let range = Message.retryRange
    guard case .other(let text) = value, let number = Int(digits: text), range.contains(number)
    else {
      throw .badRequest("'retry' is not a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }
}

extension JSONObject.Value {
  /// A string itself, and other values as they are written.
  fileprivate var text: String {
    switch self {
    case .string(let text), .other(let text): text
    }
  }
}

// By hand, because each publication has one: a quarter of the instructions of `JSON.object`.
extension Receipt {
  /// The response to its publication.
  var response: WholeResponse {
    var body = ByteBuffer()
    body.writeText(capacity: Self.capacity) { text in
      write(to: &text)
      text.write("\n")
    }
    return .json(body)
  }

  var json: String {
    var text = ByteBuffer()
    text.writeText(capacity: Self.capacity, write)
    return String(buffer: text)
  }

  /// More than the bytes of any receipt with a line break.
  private static let capacity = 96

  private func write(to text: inout TextWriter) {
    text.write(#"{"id":"#)
    text.write(id)
    text.write(#","subscribers":"#)
    text.write(UInt64(subscribers))
    if isRepeated { text.write(#","repeated":true"#) }
    text.write("}")
  }
}
