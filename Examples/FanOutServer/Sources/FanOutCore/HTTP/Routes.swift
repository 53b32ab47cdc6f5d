internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import NIOHTTPTypes
internal import NIOPosix

/// Routes requests, and answers them.
struct Routes: HTTPResponder {
  let settings: Settings
  let topics: Topics
  let log: any EventLog
  let loops: ConnectionLoops
  let access: AccessControl

  init(_ settings: Settings, _ topics: Topics, _ log: any EventLog, _ loops: ConnectionLoops) {
    self.settings = settings
    self.topics = topics
    self.log = log
    self.loops = loops
    access = AccessControl(
      tokens: settings.tokens, allowedOrigins: settings.allowedOrigins,
      isLoopbackOnly: settings.isLoopbackOnly)
  }
}

extension Routes {
  func respond(to request: Request, context: Context) async throws -> Response {
    let response = await response(to: request, context)
    // A client would read a body, also of an error, as the response to its next request.
    return request.method == .head ? response.createHeadResponse() : response
  }

  private func response(to request: Request, _ context: Context) async -> Response {
    do throws(RequestError) {
      try access.checkHost(request.head)
      let origin = try access.checkOrigin(request.head)
      var response: Response
      do throws(RequestError) {
        response = try await route(request, context)
      } catch {
        response = refuse(error, request, context)
      }
      if let origin { response.allow(origin) }
      return response
    } catch {
      return refuse(error, request, context)
    }
  }

  private func refuse(_ error: RequestError, _ request: Request, _ context: Context) -> Response {
    let path = (request.head.path ?? "").prefix { $0 != "?" }
    settings.logger.refused(error, context.channel, Route(path))
    return error.response
  }

  private func route(_ request: Request, _ context: Context) async throws(RequestError) -> Response
  {
    let target = (request.head.path ?? "").split(
      separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard let path = target.first, let route = Route(path) else {
      throw RequestError(.notFound, "there is nothing at this path")
    }
    if request.method == .options { return .options(route) }
    guard route.methods.contains(request.method) else {
      let allowed = route.methods.map(\.rawValue).joined(separator: ", ")
      throw RequestError(.methodNotAllowed, "this path takes \(allowed)", [.allow: allowed])
    }
    let query = target.dropFirst().first
    return try await answer(route, query, request, context)
  }

  private func answer(
    _ route: Route, _ query: Substring?, _ request: Request, _ context: Context
  ) async throws(RequestError) -> Response {
    switch route {
    case .server: return .options(route)
    case .page: return .page
    case .client: return .client
    case .description: return .description
    case .health: return await health()
    case .metrics:
      let status = await log.status
      return .text(
        try await onThreadPool { Metrics(topics.counts, loops.statistics, status).text },
        "text/plain; version=0.0.4; charset=utf-8")
    case .topics:
      let topicsRequest = try TopicsRequest(query: query)
      let grant = try await access.authorize(
        request.headers, query: topicsRequest.token, .subscribe)
      return .json(
        try await onThreadPool { topicsRequest.page(of: topics.counts.topics, grant) })
    case .publish(let name):
      let grant = try await access.authorize(request.headers, .publish)
      let publishRequest = try PublishRequest(query: query)
      let topic = try topic(name, grant)
      return try await publish(request, publishRequest, to: topic, context.channel)
    case .subscribe(let name):
      let streamRequest = try StreamRequest(request.headers, query: query)
      let grant = try await access.authorize(
        request.headers, query: streamRequest.token, .subscribe)
      let topic = try topic(name, grant)
      return try await subscribe(topic, streamRequest, request, context.channel)
    }
  }

  /// Runs `work` outside of event loops and Swift's tasks: with very many topics it takes long.
  private func onThreadPool(
    _ work: @escaping @Sendable () -> String
  ) async throws(RequestError) -> String {
    do {
      return try await NIOThreadPool.singleton.runIfActive(work)
    } catch {
      throw .unavailable(Unavailable("the request was cancelled"))
    }
  }

  private func topic(_ name: Substring, _ grant: Grant) throws(RequestError) -> Topic {
    let topic: Topic
    do {
      topic = try Topic(name, limit: settings.maxTopicLength)
    } catch {
      throw .badRequest(error.description)
    }
    guard grant.allows(topic.name) else {
      throw RequestError(
        .forbidden, "the token is not for this topic",
        [.wwwAuthenticate: #"Bearer error="insufficient_scope""#])
    }
    return topic
  }

  private func health() async -> Response {
    let status = await log.status
    let isClosed = topics.isClosed
    let state = isClosed ? "closing" : status.isConnected ? "ok" : "disconnected"
    return .json(
      JSON.object([
        ("status", JSON.string(state)),
        ("log", JSON.string(status.kind)),
        ("connected", "\(status.isConnected)"),
        ("streams", "\(loops.statistics.streams)"),
      ]), status: isClosed ? .serviceUnavailable : .ok)
  }
}

// MARK: - Publishing and subscribing

extension Routes {
  private func publish(
    _ request: Request, _ publishRequest: PublishRequest, to topic: Topic, _ channel: any Channel
  ) async throws(RequestError) -> Response {
    let body = try await body(of: request, channel)
    let message = Message(
      body, type: publishRequest.type, retryMilliseconds: publishRequest.retryMilliseconds)
    guard let message else {
      throw .badRequest("the body is not UTF-8: events are text")
    }
    do {
      let receipt = try await log.publish(message, to: topic)
      return .json(
        JSON.object([("id", "\(receipt.id)"), ("subscribers", "\(receipt.subscribers)")]))
    } catch {
      throw .unavailable(error)
    }
  }

  private func body(
    of request: Request, _ channel: any Channel
  ) async throws(RequestError) -> ByteBuffer {
    let limit = settings.maxEventBytes
    let isTooLong = request.headers[.contentLength].flatMap(Int.init).map { $0 > limit } ?? false
    if isTooLong { throw .tooLong(limit) }
    if request.headers[.expect]?.lowercased() == "100-continue" {
      let interim = HTTPResponse(status: .continue)
      channel.writeAndFlush(HTTPResponsePart.head(interim), promise: nil)
    }
    do {
      return try await request.body.collect(upTo: limit)
    } catch is NIOTooManyBytesError {
      throw .tooLong(limit)
    } catch {
      throw .badRequest("the body is malformed, or it ends too early")
    }
  }

  private func subscribe(
    _ topic: Topic, _ streamRequest: StreamRequest, _ request: Request, _ channel: any Channel
  ) async throws(RequestError) -> Response {
    let subscription: TopicSubscription
    do {
      subscription = try topics.subscribe(
        to: topic, after: streamRequest.after, streamRequest.policy)
    } catch {
      throw .unavailable(error)
    }
    let stream = EventStream(
      channel: channel, loop: loops[channel.eventLoop],
      retryMilliseconds: settings.retry.nanoseconds / 1_000_000,
      closesWhenStalled: streamRequest.policy == .disconnect)
    let isLast = request.headers[.connection] == "close"
    return Response(
      status: .ok,
      headers: [
        .contentType: "text/event-stream; charset=utf-8",
        .cacheControl: "no-store",
        .accelBuffering: "no",
      ],
      body: ResponseBody { _ in
        let task = try await stream.start(subscription)
        // The server closes this connection when the body returns.
        if isLast { await task.value }
      })
  }
}

extension RequestError {
  fileprivate static func tooLong(_ limit: Int) -> RequestError {
    RequestError(.contentTooLarge, "an event has at most \(limit) bytes")
  }
}
