internal import NIOConcurrencyHelpers

/// The tokens that clients need. They can be replaced while the server runs.
public final class AccessTokens: Sendable {
  /// The tokens at one time.
  public struct Value: Sendable {
    /// Tokens for publishing; `nil`: no token needed.
    public var publish: Tokens?
    /// Tokens for subscribing and listing topics; `nil`: no token needed.
    public var subscribe: Tokens?
    /// Keys for JSON web tokens, which name their topics; `nil`: none is valid.
    public var jwt: (any TokenVerifier)?

    public init(publish: Tokens? = nil, subscribe: Tokens? = nil, jwt: (any TokenVerifier)? = nil) {
      self.publish = publish
      self.subscribe = subscribe
      self.jwt = jwt
    }

    /// Whether publishing and subscribing both need a token.
    var areRequired: Bool { jwt != nil || publish != nil && subscribe != nil }
  }

  private let box: NIOLockedValueBox<Value>

  public init(publish: Tokens? = nil, subscribe: Tokens? = nil, jwt: (any TokenVerifier)? = nil) {
    box = NIOLockedValueBox(Value(publish: publish, subscribe: subscribe, jwt: jwt))
  }
}

extension AccessTokens {
  /// The current tokens.
  public var current: Value { box.withLockedValue { $0 } }

  /// Replaces all tokens in one step. The server checks later requests with the new ones; streams
  /// that are open stay open.
  public func replace(with value: Value) {
    // Outside of the lock, the old ones are freed.
    let old = box.withLockedValue { current in
      defer { current = value }
      return current
    }
    withExtendedLifetime(old) {}
  }
}
