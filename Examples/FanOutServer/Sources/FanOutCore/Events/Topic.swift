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
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.allSatisfy({ !$0.isEmpty }) else { throw .dots }
    self.name = String(name)
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
