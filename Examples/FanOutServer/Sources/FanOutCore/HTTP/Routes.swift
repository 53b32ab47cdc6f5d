internal import HTTPTypes
internal import Hummingbird
internal import Multicast
internal import NIOCore
internal import NIOHTTPTypes
internal import NIOPosix

/// Routes requests, and answers them.
///
/// A class, because each request captures it: a copy of a structure would retain each member.
final class Routes: HTTPResponder {
  let settings: Settings
  let topics: Topics
  let log: any EventLog
  let publisher: Publisher
  let loops: ConnectionLoops
  let series: MetricSeries
  let access: AccessControl
  let places: StreamPlaces

  init(
    _ settings: Settings, _ topics: Topics, _ log: any EventLog, _ loops: ConnectionLoops,
    _ series: MetricSeries
  ) {
    self.settings = settings
    self.series = series
    self.topics = topics
    self.log = log
    publisher = Publisher(topics: topics, log: log)
    self.loops = loops
    places = StreamPlaces(
      perToken: settings.maxStreamsPerToken, perAddress: settings.maxStreamsPerAddress)
    access = AccessControl(
      tokens: settings.tokens, allowedOrigins: settings.allowedOrigins,
      isLoopbackOnly: settings.isLoopbackOnly)
  }
}

extension Routes {
  enum Answer: Sendable {
    case response(WholeResponse)
    case stream(OpenStream)
  }

  /// The answer to a request, or the work that leads to it.
  enum Reply: Sendable {
    case now(Answer)
    /// Something has to be waited for.
    case later(@Sendable () async -> Answer)
  }

  /// As ``Reply``, before a refusal is an answer.
  enum Attempt: Sendable {
    case now(Answer)
    case later(@Sendable () async throws(RequestError) -> Answer)
  }

  /// Answers a request that Hummingbird reads: see ``SmallRequests``.
  func respond(to request: Request, context: Context) async -> Response {
    let incoming = IncomingRequest(
      head: request.head, body: .arriving(request.body), channel: context.channel)
    let answer =
      switch answer(incoming) {
      case .now(let answer): answer
      case .later(let work): await work()
      }
    return switch answer {
    case .response(let response): Response(response)
    case .stream(let stream): Response(stream, request, context.channel)
    }
  }

  /// Answers a request, at once if nothing has to be waited for.
  func answer(_ request: IncomingRequest) -> Reply {
    var origin: String?
    do throws(RequestError) {
      try access.checkHost(request.head)
      origin = try access.checkOrigin(request.head)
      switch try route(request) {
      case .now(let answer): return .now(answer.allowing(origin))
      case .later(let work):
        return .later { [self, origin] in
          do throws(RequestError) {
            return try await work().allowing(origin)
          } catch {
            return Answer.response(refuse(error, request)).allowing(origin)
          }
        }
      }
    } catch {
      return .now(Answer.response(refuse(error, request)).allowing(origin))
    }
  }

  private func refuse(_ error: RequestError, _ request: IncomingRequest) -> WholeResponse {
    let path = (request.head.path ?? "").prefix { $0 != "?" }
    let address = client(of: request)
    settings.logger.refused(error, address, Route(path))
    return error.response.withoutBody(if: request.method)
  }

  /// The address of the client of a request.
  func client(of request: IncomingRequest) -> SocketAddress? {
    settings.trustedProxies.client(
      of: request.channel.remoteAddress, request.headers[values: .forwardedFor])
  }

  private func route(_ request: IncomingRequest) throws(RequestError) -> Attempt {
    let (route, query) = Route.parse(request.head.path)
    guard let route else { throw RequestError(.notFound, "there is nothing at this path") }
    if request.method == .options { return .now(.response(.options(route))) }
    guard route.methods.contains(request.method) else {
      throw RequestError(
        .methodNotAllowed, "this path takes \(route.allowed)", [.allow: route.allowed])
    }
    if case .topic(let name) = route, request.method == .post {
      return try publish(request, query, to: name)
    }
    return .later { [self] () async throws(RequestError) -> Answer in
      if route.isStream, request.method == .get {
        return .stream(try await stream(route, query, request))
      }
      let response = try await response(route, query, request)
      return .response(response.withoutBody(if: request.method))
    }
  }

  private func response(
    _ route: Route, _ query: Substring?, _ request: IncomingRequest
  ) async throws(RequestError) -> WholeResponse {
    switch route {
    // `OPTIONS` of the server, `GET` of a stream and `POST` to a topic have their answers.
    case .server, .subscribe: return .options(route)
    case .page: return .page
    case .client: return .client
    case .description: return .description
    case .health: return await health()
    case .metrics:
      let status = await log.status
      return .text(
        try await onThreadPool { [topics, loops, series] in
          Metrics(topics.counts, loops.statistics, status).text + series.text
        },
        "text/plain; version=0.0.4; charset=utf-8")
    case .topics:
      let topicsRequest = try TopicsRequest(query: query)
      let grant = try await access.authorize(
        request.headers, query: topicsRequest.token, .subscribe)
      return .json(
        try await onThreadPool { [topics] in topicsRequest.page(of: topics.counts.topics, grant) })
    case .hubs:
      let hubsRequest = try HubsRequest(query: query)
      let grant = try await access.authorize(
        request.headers, query: hubsRequest.token, .subscribe)
      let hubs = settings.hubs
      return .json(try await onThreadPool { hubsRequest.page(of: hubs.snapshots, grant) })
    case .events: return try await publishBatch(request, query)
    case .topic(let name):
      var parameters = try Query(query)
      let token = try parameters.take("access_token")
      try parameters.refuseRest("access_token")
      let grant = try await access.authorize(request.headers, query: token, .subscribe)
      return .json(topics.counts.statistics(of: try Topic(name, grant, settings).name).json)
    }
  }

  /// Runs `work`, which may take long, outside of event loops, on which requests run.
  func onThreadPool<Result: Sendable>(
    _ work: @escaping @Sendable () -> Result
  ) async throws(RequestError) -> Result {
    do {
      return try await NIOThreadPool.singleton.runIfActive(work)
    } catch {
      throw .unavailable(Unavailable("the request was cancelled"))
    }
  }

  private func health() async -> WholeResponse {
    let status = await log.status
    let isClosed = topics.isClosed
    let state = isClosed ? "closing" : status.isConnected ? "ok" : "disconnected"
    let problem = status.problem.map { [("problem", JSON.string($0))] } ?? []
    return .json(
      JSON.object(
        [
          ("status", JSON.string(state)),
          ("log", JSON.string(status.kind)),
          ("connected", "\(status.isConnected)"),
          ("streams", "\(loops.statistics.streams)"),
        ] + problem), status: isClosed ? .serviceUnavailable : .ok)
  }
}

extension Routes.Answer {
  /// - Parameter origin: that of the page that may read the answer; `nil`: there is none.
  fileprivate func allowing(_ origin: String?) -> Self {
    guard let origin else { return self }
    switch self {
    case .response(var response):
      response.fields.allow(origin)
      return .response(response)
    case .stream(var stream):
      stream.head.headerFields.allow(origin)
      return .stream(stream)
    }
  }
}
