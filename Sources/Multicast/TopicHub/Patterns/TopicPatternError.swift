/// Why a text is not a ``TopicPattern``.
///
/// ## Thread safety
/// A value: any thread may use its copy.
public enum TopicPatternError: Error, Hashable, Sendable {
  /// A token is empty. The first token is number 1.
  case emptyToken(number: Int, pattern: String)
  /// The token `>` is not the last one.
  case wildcardNotLast(number: Int, pattern: String)

  /// The first fault in `text`; `nil` if it is a pattern.
  init?(in text: String) {
    var text = text
    let fault = text.withUTF8 { bytes -> (number: Int, isEmpty: Bool)? in
      var (tokens, number) = (TopicTokens(bytes), 0)
      while let token = tokens.next() {
        number += 1
        if token.isEmpty { return (number, true) }
        if token.isRest && !tokens.isAtEnd { return (number, false) }
      }
      return nil
    }
    guard let fault else { return nil }
    self =
      fault.isEmpty
      ? .emptyToken(number: fault.number, pattern: text)
      : .wildcardNotLast(number: fault.number, pattern: text)
  }
}

extension TopicPatternError: CustomStringConvertible {
  /// A sentence with the pattern, the fault and the remedy.
  public var description: String {
    switch self {
    case .emptyToken(let number, let pattern):
      """
      \(pattern.debugDescription) is not a pattern of topics: token \(number) is empty. Separate tokens \
      by single dots, without one at the beginning or the end.
      """
    case .wildcardNotLast(let number, let pattern):
      """
      \(pattern.debugDescription) is not a pattern of topics: token \(number) is ">", but not the last \
      one. Use "*" for one token in the middle.
      """
    }
  }
}
