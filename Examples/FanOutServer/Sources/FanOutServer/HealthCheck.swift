internal import FanOutCore
internal import FanOutTLS
internal import NIOCore
internal import NIOPosix

/// Asks the server that runs with this configuration for its health, as a container does.
struct HealthCheck {
  private static let patience = TimeAmount.seconds(5)
  /// An answer is not read any further: another server may send any number of bytes.
  private static let maxBytes = 1 << 14
  private static let request =
    "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

  /// What a connection reads and writes.
  private typealias Bytes = NIOAsyncChannel<ByteBuffer, ByteBuffer>

  let options: Options
  let isEncrypted: Bool

  /// - Returns: what the server says.
  /// - Throws: ``Failure`` if it does not answer, or not with 200.
  func run() async throws -> String {
    let response: String
    do {
      response = try await answer()
    } catch {
      throw Failure("no server answers on \(place)")
    }
    let end = response.firstRange(of: "\r\n\r\n")?.upperBound ?? response.endIndex
    let body = response[end...].trimmingSuffix { $0.isNewline }
    guard response.hasPrefix("HTTP/1.1 200 ") else {
      throw Failure("the server on \(place) is not healthy: \(body.isEmpty ? "no answer" : body)")
    }
    return String(body)
  }

  private var place: String { options.unixSocket ?? "\(host), port \(options.port)" }

  /// A server on all addresses of the machine has this one, too.
  private var host: String {
    switch options.address {
    case "0.0.0.0": "127.0.0.1"
    case "::": "::1"
    default: options.address
    }
  }

  private func answer() async throws -> String {
    let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .connectTimeout(Self.patience)
    let connection: Bytes
    if let path = options.unixSocket {
      connection = try await bootstrap.connect(
        unixDomainSocketPath: path, channelInitializer: initialize)
    } else {
      connection = try await bootstrap.connect(
        host: host, port: options.port, channelInitializer: initialize)
    }
    let channel = connection.channel
    let timeout = channel.eventLoop.scheduleTask(in: Self.patience) { channel.close(promise: nil) }
    defer { timeout.cancel() }
    return try await connection.executeThenClose { inbound, outbound in
      // A server may answer, and end the connection, before it has read the request. What there is
      // counts, however the connection ends.
      try? await outbound.write(ByteBuffer(string: Self.request))
      var response = ByteBuffer()
      do {
        for try await bytes in inbound {
          response.writeImmutableBuffer(bytes)
          guard response.readableBytes < Self.maxBytes else { break }
        }
      } catch {}
      return String(buffer: response)
    }
  }

  private func initialize(_ channel: any Channel) -> EventLoopFuture<Bytes> {
    channel.eventLoop.makeCompletedFuture {
      if isEncrypted {
        try channel.pipeline.syncOperations.addHandler(TLSCertificate.makeLocalClientHandler())
      }
      return try Bytes(wrappingChannelSynchronously: channel)
    }
  }
}

extension Substring {
  fileprivate func trimmingSuffix(while isTrimmed: (Character) -> Bool) -> Substring {
    lastIndex { !isTrimmed($0) }.map { self[...$0] } ?? self[startIndex..<startIndex]
  }
}
