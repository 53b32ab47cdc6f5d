public import Foundation
internal import Multicast

/// Keeps the messages of streams for clients that resume them with `Last-Event-ID`, as the
/// Streamable HTTP transport of the Model Context Protocol says.
///
/// Its functions are those of the event stores that MCP's SDKs for TypeScript, Java and C# take.
/// The transport of the SDK for Swift has one inside, and takes no other: this is for transports of
/// one's own.
public struct MCPEventStore: Sendable {
  /// There was no event yet with this id, or messages after it are no longer kept: the client must
  /// begin anew.
  public struct UnknownEvent: Error {
    public let id: String
  }

  private let hub: TopicHub<String, Data>

  /// - Parameters:
  ///   - count: the messages that are kept of each stream.
  ///   - bytes: those of all streams together; each message counts 1 KiB more, because an empty one
  ///     takes memory too.
  ///   - seconds: how long a message is kept.
  /// - Precondition: `count` is at least 1, `bytes` is not negative, and `seconds` is positive.
  public init(keeping count: Int = 100, bytes: Int = 64 << 20, seconds: Double = 3600) {
    hub = TopicHub(
      retention: .last(count), total: .bytes(bytes) { $0.count + 1024 }.and(.seconds(seconds)))
  }

  /// - Parameter message: empty for an event that only tells the client its id.
  /// - Returns: the id of the event.
  public func store(_ message: Data, of stream: String) -> String {
    guard let position = hub.publish(message, to: stream) else {
      preconditionFailure("nothing finishes the hub")
    }
    return Self.id(position, stream)
  }

  /// - Returns: the stream that an id names, also if there is no such event; `nil` if the text does
  ///   not have the form of an id.
  public func stream(of id: String) -> String? { Self.parts(id)?.stream }

  /// Sends what came after an event on its stream, unless something of that is missing.
  ///
  /// An id is no proof: a client can write one with the name of any stream. Check before that
  /// ``stream(of:)`` is a stream of this client.
  ///
  /// - Parameter send: called with the id of each event and its message, in order.
  /// - Returns: the stream.
  /// - Throws: ``UnknownEvent``, before anything was sent; and what `send` throws.
  public func replay(
    after id: String, _ send: (_ id: String, _ message: Data) async throws -> Void
  ) async throws -> String {
    guard let (position, stream) = Self.parts(id), !(hub.newestPosition < position) else {
      throw UnknownEvent(id: id)
    }
    let reader = hub.reader(for: [stream], from: .after(position)) {}
    var events: [(id: String, message: Data)] = []
    while let element = reader.nextIfAvailable() {
      guard case .event(let event, at: let position) = element else { throw UnknownEvent(id: id) }
      if !event.event.isEmpty { events.append((Self.id(position, stream), event.event)) }
    }
    for event in events { try await send(event.id, event.message) }
    return stream
  }

  private static func id(_ position: EventPosition, _ stream: String) -> String {
    "\(position)_\(stream)"
  }

  private static func parts(_ id: String) -> (position: EventPosition, stream: String)? {
    let parts = id.split(separator: "_", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    return EventPosition(String(parts[0])).map { ($0, String(parts[1])) }
  }
}
