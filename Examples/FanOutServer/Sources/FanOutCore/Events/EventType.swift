/// The type of an event, for which a page adds a listener: letters, digits, `-`, `_`, `~` and `.`.
///
/// A publisher cannot use the types of the server's own events.
public struct EventType: Hashable, Sendable {
  public static let maximumLength = 64
  private static let reserved: Set = ["begin", "missed", "disconnected"]

  public let name: String

  /// - Returns: `nil` if `name` is empty or too long, has other characters, or is one of them.
  public init?(_ name: some StringProtocol) {
    let isAllowed = name.utf8.allSatisfy { $0.isASCIIAlphanumeric || "-_~.".utf8.contains($0) }
    guard isAllowed, (1...Self.maximumLength).contains(name.utf8.count) else { return nil }
    guard !Self.reserved.contains(String(name)) else { return nil }
    self.name = String(name)
  }
}
