/// A pattern of topics, as in NATS: tokens separated by dots, some of which may be wildcards.
///
/// ```swift
/// let fires: TopicPattern = "sensors.*.fire"  // exactly one token for `*`
/// fires.matches("sensors.hall.fire")          // true
/// let all = try TopicPattern(parsing: input)  // such as "sensors.>": one token or more for `>`
/// ```
///
/// A token that is `*` matches any one token. A last token that is `>` matches one token or more:
/// `a.>` does not match `a`. Every other token matches itself only, also one that contains a
/// wildcard (`a*`, `>>`) or white space. So the name of a topic is a pattern too, which matches
/// that topic alone, unless one of its tokens is a wildcard.
///
/// Tokens of a pattern are not empty, and a topic with an empty token (`""`, `a..b`, `.a`, `a.`)
/// matches no pattern, not even `>`. Text is compared as Swift compares strings, by canonical
/// equivalence. What separates tokens is U+002E alone, also before a combining character.
///
/// A string literal in the place of a pattern is a programmer's text: if it is no pattern, that
/// ends the program with a message. Parse the text of others with ``init(parsing:)`` or
/// ``init(_:)``.
///
/// ## Thread safety
/// A value: any thread may use it.
public struct TopicPattern: Hashable, Sendable {
  /// The text of the pattern.
  public let description: String

  /// Parses a pattern.
  ///
  /// - Parameter text: tokens separated by dots.
  /// - Throws: what is wrong with `text`, if it is no pattern.
  /// - Complexity: O(`text`).
  public init(parsing text: String) throws(TopicPatternError) {
    if let error = TopicPatternError(in: text) { throw error }
    description = text
  }
}

extension TopicPattern: LosslessStringConvertible {
  /// Parses a pattern; `nil` if `text` is none. ``init(parsing:)`` says why.
  ///
  /// - Parameter text: tokens separated by dots, with `*` and `>` as wildcards.
  /// - Complexity: O(`text`).
  public init?(_ text: String) {
    try? self.init(parsing: text)
  }
}

extension TopicPattern: ExpressibleByStringLiteral {
  /// The pattern that a literal of the program is.
  ///
  /// - Parameter text: tokens separated by dots, with `*` and `>` as wildcards.
  /// - Precondition: `text` is a pattern.
  public init(stringLiteral text: String) {
    let error = TopicPatternError(in: text)
    require(error == nil, "Multicast: \(error?.description ?? "")")
    description = text
  }
}

extension TopicPattern: Codable {
  /// Decodes a pattern from its text.
  ///
  /// - Parameter decoder: has a string.
  /// - Throws: an error of the decoder, also if the string is not a pattern.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    do {
      try self.init(parsing: text)
    } catch {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: error.description)
    }
  }

  /// Encodes the text of the pattern.
  ///
  /// - Parameter encoder: receives a string.
  /// - Throws: what `encoder` throws.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
