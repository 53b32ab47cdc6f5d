public import NIOCore

/// The body of an event: UTF-8 text, because server-sent events cannot contain other data.
public struct Message: Sendable {
  /// What publishers may give as ``retryMilliseconds``.
  package static let retryRange = 0...3_600_000

  public let data: ByteBuffer
  /// The value of `event:`, for which a page adds a listener; `nil`: the usual type "message".
  public let type: EventType?
  /// The value of `retry:`, how long a client waits before it reconnects; `nil`: unchanged.
  public let retryMilliseconds: Int?
  /// The publisher's own id of the event; `nil`: it has none.
  public let key: PublicationKey?

  /// - Returns: `nil` if `data` is not UTF-8.
  public init?(
    _ data: ByteBuffer, type: EventType? = nil, retryMilliseconds: Int? = nil,
    key: PublicationKey? = nil
  ) {
    let isText = data.withUnsafeReadableBytes { bytes in
      String(validating: bytes, as: UTF8.self) != nil
    }
    guard isText else { return nil }
    self.data = data
    self.type = type
    self.retryMilliseconds = retryMilliseconds
    self.key = key
  }
}
