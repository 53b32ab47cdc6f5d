internal import ArgumentParser
internal import FanOutCore
internal import Logging

#if NATS
  internal import NATSRelay
#endif

/// Whether, and how, several servers share their topics.
struct RelayOptions: ParsableArguments {
  @Option(
    help: """
      NATS server, as nats://host:port, through which servers share their topics; several of one \
      cluster with commas between.
      """, transform: { Secret($0) })
  var relay: Secret<String>?
  @Option(help: "Servers with the same one share their topics: the name of the stream in NATS.")
  var relayPrefix = "fanout"
}

extension RelayOptions {
  #if NATS
    func validate() throws { _ = try settings() }

    /// What makes the log of a server that shares its topics.
    func makeLog(_ logger: Logger) throws -> (@Sendable (Board) -> any EventLog)? {
      guard let settings = try settings() else { return nil }
      return { NATSRelay(settings, $0, logger: logger) }
    }

    private func settings() throws -> RelaySettings? {
      guard let relay else { return nil }
      do {
        return try RelaySettings(urls: relay, prefix: relayPrefix)
      } catch {
        switch error {
        case .url: throw ValidationError("--relay: \(error)")
        case .prefix: throw ValidationError("--relay-prefix: \(error)")
        }
      }
    }
  #else
    func validate() throws {
      guard relay == nil else {
        throw ValidationError("--relay: this server is built without it: build with --traits NATS")
      }
    }

    func makeLog(_ logger: Logger) throws -> (@Sendable (Board) -> any EventLog)? { nil }
  #endif
}
