/// Who has a token: the subject of a JSON web token, or whoever has the token itself. It is never
/// printed.
struct TokenHolder: Hashable, Sendable {
  private let name: Secret<String>

  /// - Parameter subject: `nil`: each token is of another one.
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
