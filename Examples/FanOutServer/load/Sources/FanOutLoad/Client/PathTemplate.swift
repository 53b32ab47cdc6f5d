/// A path that contains `{topic}`.
struct PathTemplate: Equatable, Sendable {
  let text: String

  static let placeholder = "{topic}"

  /// - Returns: `nil` if `text` is not an absolute path, has no placeholder, or has a byte that is
  ///   not allowed in a request line.
  init?(_ text: String) {
    guard text.hasPrefix("/"), text.contains(Self.placeholder),
      text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { return nil }
    self.text = text
  }

  /// The path with `topic` for each placeholder.
  func path(topic: String) -> String {
    text.split(separator: Self.placeholder, omittingEmptySubsequences: false).joined(
      separator: topic)
  }
}
