/// A value that is never printed: a token, or an address with a password.
///
/// Descriptions, string interpolation, `print`, `dump`, mirrors and logger metadata show
/// `<secret>`, also inside of a value that contains this one. The type does not conform to
/// `Equatable`, because `==` takes time that depends on the value, or to `Encodable`.
public struct Secret<Value: Sendable>: Sendable {
  /// The value itself. Do not put it into a log, an error or a response.
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
