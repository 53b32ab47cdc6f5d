public import NIOCore

/// The body of an event: UTF-8 text, because server-sent events cannot contain other data.
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
