internal import ArgumentParser
internal import FanOutCore
internal import FanOutTLS
internal import Logging
internal import ServiceLifecycle
internal import Synchronization
internal import UnixSignals

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The command line.
struct FanOutServer: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fan-out-server",
    abstract: "Accepts events over HTTP and streams them to any number of clients.",
    discussion: """
      POST /topics/NAME publishes the request body. GET /topics/NAME/events is the stream of \
      server-sent events. GET / is a page to try the server.

      Each option can also be an environment variable, such as FANOUT_MAX_CONNECTIONS for \
      --max-connections, or a member of the JSON object in the file of --config. The command line \
      has precedence over the environment, and the environment over the file.
      """,
    version: "fan-out-server \(Version.current)")

  @Flag(
    help: """
      Ask the server that runs with this configuration for its health, and exit: with 0 if it answers \
      /health with 200. For HEALTHCHECK of a container.
      """)
  var health = false
  @OptionGroup var options: Options
  @OptionGroup var tls: TLSOptions
  @OptionGroup var relay: RelayOptions
  @OptionGroup var store: StoreOptions
  /// Environment variables that look like options, but are none.
  var unknownVariables: [String] = []

  private enum CodingKeys: CodingKey { case health, options, tls, relay, store }

  func validate() throws {
    guard store.store == nil || relay.relay == nil else {
      throw ValidationError("--store: the broker of --relay keeps the events: use one of both")
    }
    guard !health || options.unixSocket != nil || options.port > 0 else {
      throw ValidationError("--health: the port of --port 0 is unknown")
    }
    try relay.requireBuild()
    for (name, limit) in [
      ("max-connections", options.maxConnections),
      ("max-connections-per-address", options.maxConnectionsPerAddress),
    ] where tls.tlsCertificate != nil && limit == 1 {
      throw ValidationError(
        "--\(name): a connection of HTTP/2 and its first request need 2, and this is 1")
    }
  }

  func run() async throws {
    guard !health else {
      let check = HealthCheck(options: options, isEncrypted: tls.tlsCertificate != nil)
      return writeLine(try await check.run(), to: STDOUT_FILENO)
    }
    // Before the first line of output, after which SIGHUP must not end the process.
    let hangups = await UnixSignalsSequence(trapping: .sighup)
    options.startLogging()
    var settings = try await options.settings()
    let certificate = try tls.certificate(settings.logger).map { TLSCertificate($0) }
    settings.security = certificate
    for variable in unknownVariables {
      settings.logger.warning("the environment variable \(variable) is not an option")
    }
    try await UnixSocket.check(settings)
    let hasListened = Atomic(false)
    let service = FanOutService(
      settings,
      makeLog: try store.makeLog(settings) ?? relay.makeLog(settings.logger),
      whenListening: { [settings] address in
        // Not `print`, which buffers the line if the output is not a terminal.
        if let path = settings.unixSocket { options.share(path) }
        hasListened.store(true, ordering: .relaxed)
        let scheme = certificate == nil ? "http" : "https"
        writeLine("listening on \(url(of: address, scheme))", to: STDOUT_FILENO)
      })
    let group = ServiceGroup(
      configuration: .init(
        services: [Reloading(hangups, settings, options, tls, certificate), service],
        gracefulShutdownSignals: [.sigterm, .sigint],
        logger: settings.logger))
    do {
      try await group.run()
    } catch {
      // Without the line of the library that has found it.
      let reason = (error as? ServiceGroupError).map { "\($0.errorCode)" } ?? "\(error)"
      guard !hasListened.load(ordering: .relaxed) else {
        throw Failure("the server has ended: \(reason)")
      }
      let place = ListeningPlace(settings)
      throw Failure("cannot serve on \(place): \(place.reason(error) ?? reason)")
    }
  }
}

@main
enum Main {
  static func main() async {
    // A write to a closed connection must fail, not end the process.
    signal(SIGPIPE, SIG_IGN)
    var sources: OptionSources?
    do {
      let read = try OptionSources(Array(CommandLine.arguments.dropFirst()))
      sources = read
      var command = try FanOutServer.parseAsRoot(read.arguments)
      if var server = command as? FanOutServer {
        server.unknownVariables = read.unknownVariables
        command = server
      }
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
    } catch {
      // Not `exit(withError:)`, which adds the usage: errors are one line.
      let code = FanOutServer.exitCode(for: error)
      if code.isSuccess {
        print(FanOutServer.fullMessage(for: error))
      } else {
        // A value that it quotes may have several.
        let line = String(FanOutServer.message(for: error).map { $0.isNewline ? " " : $0 })
        let message = sources?.explain(line) ?? line
        writeLine("fan-out-server: \(withoutPasswords(message[...]))", to: STDERR_FILENO)
      }
      exit(code.rawValue)
    }
  }
}

/// An error that ends the server.
struct Failure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}

/// Removes possible passwords of addresses from `message`: in each word, all text between the first
/// colon and the last `@`. An error may quote a misplaced argument.
private func withoutPasswords(_ message: Substring) -> String {
  message.split(separator: " ", omittingEmptySubsequences: false).map { word in
    guard let at = word.lastIndex(of: "@"), let colon = word[..<at].firstIndex(of: ":") else {
      return String(word)
    }
    return "\(word[...colon])…\(word[at...])"
  }.joined(separator: " ")
}

/// Writes `line` without buffering. Waits while the file takes nothing.
func writeLine(_ line: String, to file: Int32) {
  var rest = Array((line + "\n").utf8)[...]
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
    if count < 0, errno == EINTR { continue }
    if count < 0, errno == EAGAIN {
      // Another process that shares the pipe may have made it non-blocking.
      var status = pollfd(fd: file, events: Int16(POLLOUT), revents: 0)
      _ = poll(&status, 1, -1)
      continue
    }
    guard count > 0 else { return }
    rest = rest.dropFirst(count)
  }
}
