/// What an outcome of an ``OutcomeTest`` means.
///
/// ## Thread safety
/// A value.
public enum Expectation: Sendable, Hashable {
  /// The outcome is allowed; the text says why.
  case accepted(String = "")
  /// The outcome is allowed, and worth a mention in the table; the text says why.
  case interesting(String = "")
  /// The outcome must not occur; the text says what it would mean.
  case forbidden(String = "")

  /// Whether the outcome may occur.
  public var isAllowed: Bool {
    if case .forbidden = self { false } else { true }
  }

  var title: String {
    switch self {
    case .accepted: "accepted"
    case .interesting: "interesting"
    case .forbidden: "FORBIDDEN"
    }
  }

  var reason: String {
    switch self {
    case .accepted(let reason), .interesting(let reason), .forbidden(let reason): reason
    }
  }
}
