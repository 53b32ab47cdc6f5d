public import Multicast

/// Verifies tokens that name their topics, such as JSON web tokens.
public protocol TokenVerifier: Sendable {
  /// - Returns: `nil` if the token is not valid now.
  func claims(of token: String) async -> TokenClaims?
}

/// What a token grants.
public struct TokenClaims: Sendable {
  public var publish: [TopicPattern]
  public var subscribe: [TopicPattern]
  /// How long it is still valid.
  public var timeLeft: Duration

  public init(publish: [TopicPattern], subscribe: [TopicPattern], timeLeft: Duration) {
    self.publish = publish
    self.subscribe = subscribe
    self.timeLeft = timeLeft
  }
}
