/// Bearer tokens; a client needs one of them.
public struct Tokens: Sendable {
  /// Why a text is not a list of tokens.
  public enum Refusal: Error, Hashable {
    case none
    case character(line: Int)
    case tooShort(line: Int)
  }

  public static let minimumLength = 16

  private let tokens: Secret<[[UInt8]]>

  /// - Parameter text: one token per line; empty lines are skipped.
  public init(_ text: String) throws(Refusal) {
    var tokens: [[UInt8]] = []
    let lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
    for (index, line) in lines.enumerated() {
      let token = Array(line.utf8.drop { Self.isSpace($0) }.reversed().drop { Self.isSpace($0) })
      guard !token.isEmpty else { continue }
      guard token.allSatisfy(Self.isAllowed) else { throw .character(line: index + 1) }
      guard token.count >= Self.minimumLength else { throw .tooShort(line: index + 1) }
      tokens.append(token.reversed())
    }
    guard !tokens.isEmpty else { throw .none }
    self.tokens = Secret(tokens)
  }

  /// Whether `candidate` is one of the tokens.
  ///
  /// The time depends on the length of the candidate and on the number and lengths of the tokens,
  /// not on their contents: a client cannot guess a token byte by byte.
  func contain(_ candidate: some StringProtocol) -> Bool {
    let candidate = Array(candidate.utf8)
    var isFound = false
    for token in tokens.revealed {
      let isSame = Self.isSame(token, candidate)
      isFound = isFound || isSame
    }
    return isFound
  }

  private static func isSame(_ token: [UInt8], _ candidate: [UInt8]) -> Bool {
    var difference = UInt(bitPattern: token.count ^ candidate.count)
    for index in candidate.indices {
      difference |= UInt(token[index % token.count] ^ candidate[index])
    }
    return difference == 0
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }

  /// The characters of a bearer token (RFC 6750).
  private static func isAllowed(_ byte: UInt8) -> Bool {
    byte.isASCIIAlphanumeric || "-._~+/=".utf8.contains(byte)
  }
}

extension Tokens.Refusal: CustomStringConvertible {
  public var description: String {
    switch self {
    case .none: "it has no token"
    case .character(let line):
      "line \(line) has a character that a bearer token cannot have"
    case .tooShort(let line):
      "the token in line \(line) has less than \(Tokens.minimumLength) characters"
    }
  }
}
