internal import HTTPTypes
internal import Hummingbird
internal import Multicast
internal import NIOCore
internal import NIOHTTPTypes
internal import NIOPosix

/// Routes requests, and answers them.
struct Routes: HTTPResponder {
  let settings: Settings
  let topics: Topics
  let log: any EventLog
  let publisher: Publisher
  let loops: ConnectionLoops
  let series: MetricSeries
  let access: AccessControl

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
      if let origin { response.headers.allow(origin) }
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
    let (route, query) = Route.parse(request.head.path)
    guard let route else { throw RequestError(.notFound, "there is nothing at this path") }
    if request.method == .options { return .options(route) }
    guard route.methods.contains(request.method) else {
      let allowed = route.methods.map(\.rawValue).joined(separator: ", ")
      throw RequestError(.methodNotAllowed, "this path takes \(allowed)", [.allow: allowed])
    }
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
        try await onThreadPool {
          Metrics(topics.counts, loops.statistics, status).text + series.text
        },
        "text/plain; version=0.0.4; charset=utf-8")
    case .topics:
      let topicsRequest = try TopicsRequest(query: query)
      let grant = try await access.authorize(
        request.headers, query: topicsRequest.token, .subscribe)
      return .json(
        try await onThreadPool { topicsRequest.page(of: topics.counts.topics, grant) })
    case .hubs:
      let hubsRequest = try HubsRequest(query: query)
      let grant = try await access.authorize(
        request.headers, query: hubsRequest.token, .subscribe)
      return .json(
        try await onThreadPool { hubsRequest.page(of: settings.hubs.snapshots, grant) })
    case .events where request.method == .post:
      return try await publishBatch(request, query, context.channel)
    case .events, .subscribe:
      let stream = try await stream(route, query, request.headers, context.channel)
      return Response(stream, request, context.channel)
    case .topic(let name) where request.method == .post:
      let grant = try await access.authorize(request.headers, .publish)
      let publishRequest = try PublishRequest(request.headers, query: query)
      let topic = try Topic(name, grant, settings)
      return try await publish(request, publishRequest, to: topic, context.channel)
    case .topic(let name):
      var parameters = try Query(query)
      let token = try parameters.take("access_token")
      try parameters.refuseRest()
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

  private func health() async -> Response {
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
