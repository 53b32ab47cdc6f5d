public import NIOCore

/// What somebody publishes: text, as a server-sent event cannot hold anything else.
public struct Message: Sendable {
  public let data: ByteBuffer

  /// - Returns: `nil` if `data` is not UTF-8.
  public init?(_ data: ByteBuffer) {
    let isText = data.withUnsafeReadableBytes { bytes in
      String(validating: bytes, as: UTF8.self) != nil
    }
    guard isText else { return nil }
    self.data = data
  }
}
