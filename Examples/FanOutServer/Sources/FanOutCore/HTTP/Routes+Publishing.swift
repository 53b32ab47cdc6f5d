internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import NIOHTTPTypes

extension Routes {
  /// Publishes an event to the topic with this name, at once if nothing has to be waited for.
  func publish(
    _ request: IncomingRequest, _ query: Substring?, to name: Substring
  ) throws(RequestError) -> Attempt {
    let decision = try access.decide(request.headers, .publish)
    guard case .granted(let grant, _) = decision, case .received(let body) = request.body else {
      return .later { [self] () async throws(RequestError) -> Answer in
        let grant = try await access.verify(decision, .publish).grant
        let publishRequest = try PublishRequest(request.headers, query: query)
        let topic = try Topic(name, grant, settings)
        let limit = settings.maxEventBytes
        let body = try await body(of: request, limit: limit) { .tooLong(limit) }
        let message = try Self.message(publishRequest, body, request.headers)
        return try await publish(message, to: topic)
      }
    }
    let publishRequest = try PublishRequest(request.headers, query: query)
    let topic = try Topic(name, grant, settings)
    try Self.check(body, request.headers, settings.maxEventBytes) {
      .tooLong(settings.maxEventBytes)
    }
    let message = try Self.message(publishRequest, body, request.headers)
    do {
      if let receipt = try publisher.publishAtOnce(message, to: topic) {
        return .now(.response(receipt.response))
      }
    } catch {
      throw .unavailable(error)
    }
    return .later { [self] () async throws(RequestError) -> Answer in
      try await publish(message, to: topic)
    }
  }

  private static func message(
    _ publishRequest: PublishRequest, _ body: ByteBuffer, _ headers: HTTPFields
  ) throws(RequestError) -> Message {
    if MediaType.json(headers), !JSONObject.isJSON(body.readableBytesView) {
      throw .badRequest("the body is not JSON, as its Content-Type says")
    }
    guard let message = publishRequest.message(body) else {
      throw .badRequest("the body is not UTF-8: events are text")
    }
    return message
  }

  private func publish(_ message: Message, to topic: Topic) async throws(RequestError) -> Answer {
    do {
      return .response(try await publisher.publish(message, to: topic).response)
    } catch {
      throw .unavailable(error)
    }
  }

  /// Publishes events that name their topics.
  func publishBatch(
    _ request: IncomingRequest, _ query: Substring?
  ) async throws(RequestError) -> WholeResponse {
    let grant = try await access.authorize(request.headers, .publish)
    try Query(query).refuseRest()
    let format = try PublicationBatch.Format(request.headers)
    let key = try PublishRequest.key(request.headers)
    let limit = settings.maxBatchBytes
    let body = try await body(of: request, limit: limit) {
      RequestError(.contentTooLarge, "the events of a request have at most \(limit) bytes")
    }
    let batch = try await batch(body, format, key, grant)
    let results = await publisher.publish(batch.publications)
    var receipts: [String] = []
    do {
      for result in results { receipts.append(try result.get().json) }
    } catch {
      var refusal = RequestError.unavailable(error)
      if format == .lines { refusal.members = [("events", JSON.array(receipts))] }
      throw refusal
    }
    return .json(
      format == .lines ? JSON.object([("events", JSON.array(receipts))]) : receipts[0])
  }

  private func batch(
    _ body: ByteBuffer, _ format: PublicationBatch.Format, _ key: PublicationKey?, _ grant: Grant
  ) async throws(RequestError) -> PublicationBatch {
    guard body.readableBytes > settings.maxEventBytes else {
      return try PublicationBatch(body, format, key, grant, settings)
    }
    let result: Result<PublicationBatch, RequestError> = try await onThreadPool { [settings] in
      do throws(RequestError) {
        return .success(try PublicationBatch(body, format, key, grant, settings))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// - Parameter tooLong: the refusal of a longer body than `limit`.
  private func body(
    of request: IncomingRequest, limit: Int, tooLong: () -> RequestError
  ) async throws(RequestError) -> ByteBuffer {
    switch request.body {
    case .received(let body):
      try Self.check(body, request.headers, limit, tooLong)
      return body
    case .arriving(let body):
      try Self.refuseCoding(request.headers)
      return try await collect(body, of: request, limit, tooLong)
    }
  }

  private static func check(
    _ body: ByteBuffer, _ headers: HTTPFields, _ limit: Int, _ tooLong: () -> RequestError
  ) throws(RequestError) {
    try refuseCoding(headers)
    guard body.readableBytes <= limit else { throw tooLong() }
  }

  /// Refuses a body that is compressed: what it contains is not an event (RFC 9110, section
  /// 15.5.16).
  private static func refuseCoding(_ headers: HTTPFields) throws(RequestError) {
    guard let coding = headers.value(of: .contentEncoding),
      coding.lowercased() != "identity"
    else { return }
    throw RequestError(
      .unsupportedMediaType, "bodies with a Content-Encoding are not taken",
      [.acceptEncoding: "identity"])
  }

  private func collect(
    _ body: RequestBody, of request: IncomingRequest, _ limit: Int, _ tooLong: () -> RequestError
  ) async throws(RequestError) -> ByteBuffer {
    // One that is no `Int` is longer than any.
    let length = request.headers.value(of: .contentLength).map { Int($0) ?? .max } ?? 0
    guard length <= limit else {
      // HTTP/2 passes several on, if they are the same.
      guard request.headers[values: .contentLength].count == 1 else {
        throw .badRequest("the request has more than one Content-Length")
      }
      throw tooLong()
    }
    if request.headers.value(of: .expect)?.lowercased() == "100-continue" {
      let interim = HTTPResponse(status: .continue)
      request.channel.writeAndFlush(HTTPResponsePart.head(interim), promise: nil)
    }
    do {
      return try await body.collect(upTo: limit)
    } catch is NIOTooManyBytesError {
      throw tooLong()
    } catch {
      throw .badRequest("the body is malformed, or it ends too early")
    }
  }
}

extension RequestError {
  static func tooLong(_ limit: Int) -> RequestError {
    RequestError(.contentTooLarge, "an event has at most \(limit) bytes")
  }
}
