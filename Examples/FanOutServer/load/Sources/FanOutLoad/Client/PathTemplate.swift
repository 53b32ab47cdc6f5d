/// A path with `{topic}` in it.
struct PathTemplate: Equatable, Sendable {
  let text: String

  static let placeholder = "{topic}"

  /// `nil` if it is no absolute path, has no placeholder, or has a byte that a request line cannot hold.
  init?(_ text: String) {
    guard text.hasPrefix("/"), text.contains(Self.placeholder),
      text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { return nil }
    self.text = text
  }

  /// The path with `topic` in every place.
  func path(topic: String) -> String {
    text.split(separator: Self.placeholder, omittingEmptySubsequences: false).joined(
      separator: topic)
  }
}
