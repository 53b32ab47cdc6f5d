internal import Hummingbird
internal import HummingbirdCore
internal import Logging
public import NIOCore
internal import NIOPosix
public import ServiceLifecycle

/// The whole server.
public struct FanOutService: Service {
  private let settings: Settings
  private let makeLog: (@Sendable (Board) -> any EventLog)?
  private let whenListening: @Sendable (SocketAddress) async -> Void
  private let eventLoops: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton

  /// - Parameters:
  ///   - makeLog: makes what stands between publishing and the board that it is given, and says what
  ///     the first id is. Without it that is the time, and the server works alone.
  ///   - whenListening: called when clients can connect.
  public init(
    _ settings: Settings,
    makeLog: (@Sendable (Board) -> any EventLog)? = nil,
    whenListening: @escaping @Sendable (SocketAddress) async -> Void = { _ in }
  ) {
    self.settings = settings
    self.makeLog = makeLog
    self.whenListening = whenListening
  }

  /// Serves until the service group shuts down.
  public func run() async throws {
    let loops = try await ConnectionLoops(
      eventLoops, heartbeat: settings.heartbeat, idle: settings.idleTimeout,
      linger: settings.linger)
    defer { loops.stop() }
    let board = Board(
      historyEvents: settings.historyEvents, historyBytes: settings.historyBytes,
      bufferLimit: settings.bufferLimit,
      startingAfter: makeLog == nil ? Board.microsecondsSince1970 : nil,
      whenBuffersFill: { loops.skipLinger() })
    let log: any EventLog = makeLog?(board) ?? LocalLog(board)
    let http = HTTPService(
      application: application(Routes(settings, board, log, loops), loops), log: log,
      board: board, loops: loops, drain: .nanoseconds(settings.drain.nanoseconds))
    // Shut down in reverse: the log is there until the last client has gone.
    try await ServiceGroup(
      services: [LogService(log: log), http], logger: settings.logger
    ).run()
  }

  private func application(_ routes: Routes, _ loops: ConnectionLoops) -> Application<Routes> {
    Application(
      responder: routes,
      server: .fanOut(idleTimeout: settings.idleTimeout, loops),
      configuration: ApplicationConfiguration(
        address: .hostname(settings.host, port: settings.port), backlog: 4096,
        availableConnectionsDelegate: MaximumAvailableConnections(settings.maxConnections)),
      onServerRunning: { [whenListening] channel in
        guard let address = channel.localAddress else { return }
        await whenListening(address)
      },
      eventLoopGroupProvider: .shared(eventLoops),
      logger: settings.logger)
  }
}

/// What clients talk to.
private struct HTTPService: Service {
  let application: Application<Routes>
  let log: any EventLog
  let board: Board
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

  /// The application waits until all connections are closed. Streams end when they have written
  /// what waits for them; those whose clients do not take it in time are closed, and so is what has
  /// half a request or half an answer.
  private func endStreams() async {
    try? await gracefulShutdown()
    let deadline = ContinuousClock.now + drain
    // The other half is for the clients.
    await log.drain(within: drain / 2)
    await board.close()
    try? await Task.sleep(until: deadline, clock: .continuous)
    loops.closeConnections()
  }
}

private struct LogService: Service {
  let log: any EventLog

  func run() async throws { try await log.run() }
}
