public import Multicast

/// Verifies tokens that name their topics, such as JSON web tokens. Behind the last dot of a token
/// is its signature: without a subject, tokens that differ only there are of one client.
public protocol TokenVerifier: Sendable {
  /// - Returns: `nil` if the token is not valid now.
  func claims(of token: String) async -> TokenClaims?
}

/// What a token grants.
public struct TokenClaims: Sendable {
  public var publish: [TopicPattern]
  public var subscribe: [TopicPattern]
  /// Who has the token; `nil`: it does not say.
  public var subject: String?
  /// How long it is still valid.
  public var timeLeft: Duration

  public init(
    publish: [TopicPattern], subscribe: [TopicPattern], subject: String? = nil, timeLeft: Duration
  ) {
    self.publish = publish
    self.subscribe = subscribe
    self.subject = subject
    self.timeLeft = timeLeft
  }
}
