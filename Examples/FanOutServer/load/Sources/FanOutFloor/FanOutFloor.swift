internal import ArgumentParser
internal import NIOCore
internal import NIOPosix

/// The command line.
@main
struct FanOutFloor: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fan-out-floor",
    abstract: "Streams what is published, with SwiftNIO, and does nothing else.",
    discussion: """
      No history, limits, tokens, logs, heartbeats or checks: it is there to compare \
      other servers with. One thread serves all connections.
      """)

  @Option(help: "The port on 127.0.0.1.") var port = 8080

  func validate() throws {
    guard (1...65535).contains(port) else {
      throw ValidationError("--port: \(port) is not between 1 and 65535")
    }
  }

  func run() async throws {
    let server = try await FloorServer.start(
      on: MultiThreadedEventLoopGroup.singleton.next(), port: port)
    try await server.closeFuture.get()
  }
}
