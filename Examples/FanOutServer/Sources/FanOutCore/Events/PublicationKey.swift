/// A publisher's own id of an event, by which the server recognises the event if it is published
/// again: 1 to 128 visible ASCII characters except `"` and `\`.
public struct PublicationKey: Hashable, Sendable {
  public static let maximumLength = 128

  public let text: String

  /// - Returns: `nil` if `text` is empty or too long, or has other characters.
  public init?(_ text: some StringProtocol) {
    let isAllowed = text.utf8.allSatisfy { byte in
      (0x21...0x7e).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }
    guard isAllowed, (1...Self.maximumLength).contains(text.utf8.count) else { return nil }
    self.text = String(text)
  }
}
