internal import ArgumentParser
internal import FanOutCore
internal import Logging

#if NATS
  internal import NATSRelay
#endif

/// The options of the relay, through which several servers share their topics.
struct RelayOptions: ParsableArguments {
  @Option(
    help: """
      NATS server, such as nats://host:port, through which servers share their topics. Separate \
      several addresses of one cluster with commas.
      """, transform: { Secret($0) })
  var relay: Secret<String>?
  @Option(
    help: """
      File with the credentials for NATS: one that nsc has created, or one line with user:password \
      or a token. Each connection reads it.
      """)
  var relayCredentials: String?
  @Option(help: "Name of the stream in NATS. Servers with the same prefix share their topics.")
  var relayPrefix = "fanout"
  @Option(help: "Maximum size in bytes of a stream that the server creates.")
  var relayBytes = 1 << 30
}

extension RelayOptions {
  func validate() throws {
    try Options.require("--relay-bytes", relayBytes, in: (1 << 20)...(1 << 50))
    #if NATS
      _ = try settings()
    #endif
  }

  #if NATS
    /// This server has what the options need.
    func requireBuild() throws {}

    /// Creates the log of a server that shares its topics; `nil` without `--relay`.
    func makeLog(_ logger: Logger) throws -> (@Sendable (Topics) -> any EventLog)? {
      guard let settings = try settings() else { return nil }
      return { NATSRelay(settings, $0, logger: logger) }
    }

    private func settings() throws -> RelaySettings? {
      guard let relay else {
        guard relayCredentials == nil else {
          throw ValidationError("--relay-credentials: there is no --relay")
        }
        return nil
      }
      let credentials: RelayCredentials?
      do {
        credentials = try relayCredentials.map(RelayCredentials.init)
      } catch {
        throw ValidationError("--relay-credentials: \(error)")
      }
      do {
        return try RelaySettings(
          urls: relay, prefix: relayPrefix, credentials: credentials, streamBytes: relayBytes)
      } catch {
        switch error {
        case .url: throw ValidationError("--relay: \(error)")
        case .twoCredentials: throw ValidationError("--relay-credentials: \(error)")
        case .prefix: throw ValidationError("--relay-prefix: \(error)")
        }
      }
    }
  #else
    /// Refuses options for which this server was not built.
    func requireBuild() throws {
      guard relay == nil, relayCredentials == nil else {
        throw ValidationError(
          "\(relay == nil ? "--relay-credentials" : "--relay"): this server was built without NATS: build it with --traits NATS"
        )
      }
    }

    func makeLog(_ logger: Logger) throws -> (@Sendable (Topics) -> any EventLog)? { nil }
  #endif
}
