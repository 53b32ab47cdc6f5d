/// A token of Swift source, with its place in bytes of UTF-8.
///
/// Operators are one token for each character, because what belongs together depends on where they
/// stand: `>>` closes two lists of generic arguments. ``isAdjacent`` tells a character of an
/// operator from a separate one.
struct Token: Equatable {
  enum Kind: Equatable {
    /// A name or a keyword; with backticks if the source has them.
    case identifier
    /// `$0`, `$name`.
    case dollarIdentifier
    case integerOrFloat
    case string
    /// One of `( ) [ ] { } , : ; @ #` or a character of an operator.
    case punctuation
    case end
  }

  var kind: Kind
  var range: Range<Int>
  /// The text, with backticks.
  var text: String
  /// Whether no white space and no comment precedes it.
  var isAdjacent: Bool
  /// Whether it begins a line.
  var startsLine: Bool
}
