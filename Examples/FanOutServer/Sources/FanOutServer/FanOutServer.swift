internal import ArgumentParser
internal import FanOutCore
internal import ServiceLifecycle
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
      """)

  @OptionGroup var options: Options
  @OptionGroup var relay: RelayOptions

  func run() async throws {
    // Before the first line of output, after which SIGHUP must not end the process.
    let hangups = await UnixSignalsSequence(trapping: .sighup)
    let settings = try options.settings()
    let service = FanOutService(
      settings, makeLog: try relay.makeLog(settings.logger),
      whenListening: { address in
        // Not `print`, which buffers the line if the output is not a terminal.
        writeLine("listening on \(url(of: address))", to: STDOUT_FILENO)
      })
    let group = ServiceGroup(
      configuration: .init(
        services: [Reloading(hangups, settings, options), service],
        gracefulShutdownSignals: [.sigterm, .sigint],
        logger: settings.logger))
    do {
      try await group.run()
    } catch {
      throw Failure("cannot serve on \(settings.host), port \(settings.port): \(error)")
    }
  }
}

@main
enum Main {
  static func main() async {
    // A write to a closed connection must fail, not end the process.
    signal(SIGPIPE, SIG_IGN)
    do {
      var command = try FanOutServer.parseAsRoot()
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
        let message = FanOutServer.message(for: error).prefix { !$0.isNewline }
        writeLine("fan-out-server: \(withoutPasswords(message))", to: STDERR_FILENO)
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

/// Writes `line` without buffering.
private func writeLine(_ line: String, to file: Int32) {
  _ = (line + "\n").withCString { write(file, $0, strlen($0)) }
}
