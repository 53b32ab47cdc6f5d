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
    abstract: "Takes events in over HTTP and streams them to any number of clients.",
    discussion: """
      POST /topics/NAME publishes the body, GET /topics/NAME/events is the stream of server-sent \
      events, GET / is a page to try it with.
      """)

  @OptionGroup var options: Options
  @OptionGroup var relay: RelayOptions

  func run() async throws {
    let settings = try options.settings()
    let service = FanOutService(
      settings, makeLog: try relay.makeLog(settings.logger),
      whenListening: { address in
        // Not `print`, which keeps the line back when the output is no terminal.
        writeLine("listening on \(url(of: address))", to: STDOUT_FILENO)
      })
    let group = ServiceGroup(
      configuration: .init(
        services: [service], gracefulShutdownSignals: [.sigterm, .sigint],
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
    // A connection that is gone is an error of one write, not the end of the process.
    signal(SIGPIPE, SIG_IGN)
    do {
      var command = try FanOutServer.parseAsRoot()
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
    } catch {
      // Not `exit(withError:)`, which adds the usage: an error is one line.
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

/// Why the server does not start.
struct Failure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}

/// Leaves out of `message` what may be the password of an address: in each word all between the
/// first colon and the last `@`. An error may quote an argument that was misplaced.
private func withoutPasswords(_ message: Substring) -> String {
  message.split(separator: " ", omittingEmptySubsequences: false).map { word in
    guard let at = word.lastIndex(of: "@"), let colon = word[..<at].firstIndex(of: ":") else {
      return String(word)
    }
    return "\(word[...colon])…\(word[at...])"
  }.joined(separator: " ")
}

/// Writes `line` at once.
private func writeLine(_ line: String, to file: Int32) {
  _ = (line + "\n").withCString { write(file, $0, strlen($0)) }
}
