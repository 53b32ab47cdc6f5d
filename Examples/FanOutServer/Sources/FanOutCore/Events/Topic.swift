/// The name of a topic: letters, digits, `-`, `_`, `~`, and single dots inside.
///
/// These characters need no escaping in a path, in JSON, or in the subjects of a broker.
public struct Topic: Hashable, Sendable {
  public let name: String

  /// Why a name is not valid.
  public enum Refusal: Error, Hashable {
    case empty
    case tooLong(Int)
    case character
    case dots
  }

  /// - Parameter limit: the maximum number of characters.
  public init(_ name: some StringProtocol, limit: Int) throws(Refusal) {
    guard !name.isEmpty else { throw .empty }
    guard name.utf8.count <= limit else { throw .tooLong(limit) }
    guard name.utf8.allSatisfy(Self.isAllowed) else { throw .character }
    guard Self.hasSingleDotsInside(name.utf8) else { throw .dots }
    self.name = String(name)
  }

  private static func hasSingleDotsInside(_ name: some Collection<UInt8>) -> Bool {
    var wasDot = true
    for byte in name {
      let isDot = byte == UInt8(ascii: ".")
      if isDot && wasDot { return false }
      wasDot = isDot
    }
    return !wasDot
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    byte.isASCIIAlphanumeric || "-_~.".utf8.contains(byte)
  }
}

extension Topic: CustomStringConvertible {
  public var description: String { name }
}

extension Topic.Refusal: CustomStringConvertible {
  public var description: String {
    switch self {
    case .empty: "a topic needs a name"
    case .tooLong(let limit): "a topic has at most \(limit) characters"
    case .character: "a topic has only letters, digits, '-', '_', '~' and '.'"
    case .dots: "a topic neither begins nor ends with '.', and has no two of them in a row"
    }
  }
}
