/// The client that has a token: all that have the same subject of a JSON web token, or else the
/// same token, are one. It is never printed.
struct TokenHolder: Hashable, Sendable {
  private let name: Secret<String>

  /// - Parameter subject: that of a JSON web token; `nil`: it has none.
  init(token: String, subject: String? = nil) {
    // A token has no space.
    name = Secret(subject.map { "subject \($0)" } ?? token)
  }

  // Only tokens that are valid are compared: the time tells nothing about others.
  static func == (left: TokenHolder, right: TokenHolder) -> Bool {
    left.name.revealed == right.name.revealed
  }

  func hash(into hasher: inout Hasher) { hasher.combine(name.revealed) }
}
