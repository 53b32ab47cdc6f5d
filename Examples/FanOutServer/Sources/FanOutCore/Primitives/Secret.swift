/// A value that is never printed: a token, or an address with a password.
///
/// Descriptions, string interpolation, `print`, `dump`, mirrors and the metadata of a logger show
/// `<secret>`, also where a value that holds this one is printed. It does not conform to `Equatable`,
/// because `==` takes time that depends on the value, or to `Encodable`.
public struct Secret<Value: Sendable>: Sendable {
  /// The value itself. It belongs into no text that a log, an error or an answer gets.
  public let revealed: Value

  public init(_ value: Value) {
    revealed = value
  }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible {
  public var description: String { "<secret>" }
  public var debugDescription: String { description }
}

extension Secret: CustomReflectable {
  public var customMirror: Mirror { Mirror(self, children: []) }
}
