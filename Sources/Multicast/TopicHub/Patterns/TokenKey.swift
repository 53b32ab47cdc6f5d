/// What identifies a token in a ``PatternIndex``: keys of canonically equivalent tokens are equal.
/// A key is valid as long as the text of its token.
struct TokenKey {
  /// Seeded anew in each process, as all hashing of Swift: clients cannot choose tokens of equal
  /// hashes.
  let hash: Int
  /// The bytes of a token that is ASCII.
  let ascii: UnsafeRawBufferPointer
  /// The first bytes of it, and zeros.
  let prefix: Prefix
  /// The text of a token that is not.
  let text: String?

  /// - Complexity: O(token). Allocates nothing for ASCII.
  init(_ token: TopicTokens.Token) {
    guard !token.isASCII else {
      (hash, ascii, text) = (Self.hash(token.bytes), token.bytes, nil)
      prefix = Prefix(token.bytes)
      return
    }
    var text = Self.replacingEquivalentsOfASCII(in: token.text)
    let isASCII = text.isASCII
    hash = isASCII ? text.withUTF8 { Self.hash(UnsafeRawBufferPointer($0)) } : text.hashValue
    ascii = UnsafeRawBufferPointer(start: nil, count: 0)
    prefix = Prefix(ascii)
    self.text = text
  }

  /// As many bytes as fit into a node: mostly the whole token.
  struct Prefix: Equatable {
    static var size: Int { 16 }
    private var words: (UInt64, UInt64) = (0, 0)

    init(_ bytes: UnsafeRawBufferPointer) {
      withUnsafeMutableBytes(of: &words) {
        $0.copyMemory(from: .init(rebasing: bytes.prefix(Self.size)))
      }
    }

    static func == (left: Self, right: Self) -> Bool { left.words == right.words }
  }

  private static func hash(_ bytes: UnsafeRawBufferPointer) -> Int {
    var hasher = Hasher()
    hasher.combine(bytes: bytes)
    return hasher.finalize()
  }

  /// `text` with ASCII in the place of the three other scalars that are equivalent to ASCII: the
  /// sign of Kelvin, the Greek question mark and the Greek varia.
  static func replacingEquivalentsOfASCII(in text: String) -> String {
    var replaced = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\u{212A}": replaced.append("K")
      case "\u{37E}": replaced.append(";")
      case "\u{1FEF}": replaced.append("`")
      default: replaced.append(scalar)
      }
    }
    return String(replaced)
  }
}

extension String {
  /// - Complexity: O(`count`).
  var isASCII: Bool { !utf8.contains { $0 >= 0x80 } }
}
