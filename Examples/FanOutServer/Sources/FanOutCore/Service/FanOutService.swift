internal import Hummingbird
internal import HummingbirdCore
internal import Logging
public import NIOCore
internal import NIOPosix
public import ServiceLifecycle

/// The server as one service.
public struct FanOutService: Service {
  /// How long a shutdown waits for lines of the access log.
  private static let timeForAccessLog = Duration.seconds(2)

  private let settings: Settings
  private let makeLog: (@Sendable (Topics) -> any EventLog)?
  private let whenListening: @Sendable (SocketAddress) async -> Void

  /// - Parameters:
  ///   - makeLog: makes the event log of the given topics; the log also sets the first id. `nil`:
  ///     the server uses a ``LocalLog``, and ids start at the current time.
  ///   - whenListening: called with the bound address once clients can connect.
  public init(
    _ settings: Settings,
    makeLog: (@Sendable (Topics) -> any EventLog)? = nil,
    whenListening: @escaping @Sendable (SocketAddress) async -> Void = { _ in }
  ) {
    self.settings = settings
    self.makeLog = makeLog
    self.whenListening = whenListening
  }

  /// Serves until the service group shuts down.
  public func run() async throws {
    let eventLoops = settings.eventLoops ?? MultiThreadedEventLoopGroup.singleton
    let loops = try await ConnectionLoops(
      eventLoops, heartbeat: settings.heartbeat, idle: settings.idleTimeout,
      pause: settings.pause, quietTime: settings.quietTime)
    defer { loops.stop() }
    let source = TopicSource(settings, makeLog: makeLog) { deliver in loops.deliver(deliver) }
    let (topics, log) = (source.topics, source.log)
    topics.warnOfLeaks()
    let series = MetricSeries(help: HubReports.help)
    let routes = Routes(settings, topics, log, loops, series)
    let http = HTTPService(
      application: application(routes, eventLoops), log: log,
      topics: topics, loops: loops, drain: .nanoseconds(settings.drain.nanoseconds))
    defer { settings.accessLog?.flush(within: Self.timeForAccessLog) }
    // Services shut down in reverse order: the log outlives the last client.
    try await ServiceGroup(
      services: [HubReports(settings, series), LogService(log: log), http],
      logger: settings.logger
    ).run()
  }

  private func application(
    _ routes: Routes, _ eventLoops: any EventLoopGroup
  ) -> Application<Routes> {
    Application(
      responder: routes,
      server: .fanOut(routes),
      configuration: ApplicationConfiguration(
        address: settings.unixSocket.map { .unixDomainSocket(path: $0) }
          ?? .hostname(settings.host, port: settings.port), backlog: 4096,
        availableConnectionsDelegate: MaximumAvailableConnections(
          settings.maxConnections + ConnectionPlaces.reserved)),
      onServerRunning: { [whenListening] channel in
        guard let address = channel.localAddress else { return }
        await whenListening(address)
      },
      eventLoopGroupProvider: .shared(eventLoops),
      logger: settings.logger)
  }
}

/// Serves HTTP clients, and ends their streams at shutdown.
private struct HTTPService: Service {
  let application: Application<Routes>
  let log: any EventLog
  let topics: Topics
  let loops: ConnectionLoops
  let drain: Duration

  func run() async throws {
    try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        try await application.run()
        return true
      }
      group.addTask {
        await endStreams()
        return false
      }
      for try await isOver in group where isOver { group.cancelAll() }
    }
  }

  /// Ends all connections at shutdown: the application returns when the last one is closed.
  ///
  /// Streams first write their pending events. After the deadline, every connection that is still
  /// open is closed: slow readers, and incomplete requests or responses.
  private func endStreams() async {
    try? await gracefulShutdown()
    let deadline = ContinuousClock.now + drain
    // The other half of the time is for the clients.
    await log.drain(within: drain / 2)
    topics.close()
    loops.endPauses()
    // It answers no stream that waits for its events.
    if await !log.status.isConnected { loops.endWaitingStreams() }
    try? await Task.sleep(until: deadline, clock: .continuous)
    loops.closeConnections()
  }
}

private struct LogService: Service {
  let log: any EventLog

  func run() async throws { try await log.run() }
}
