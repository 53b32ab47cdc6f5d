/// The result of a call that had not ended when the timeout of its invocation expired.
///
/// See ``MulticastActor/invokeConcurrently(limit:timeout:clock:_:)``.
public struct DeliveryTimedOut: Error, Hashable, CustomStringConvertible {
  /// The timeout of the invocation.
  public let timeout: Duration

  /// Creates an error for an invocation with this timeout.
  public init(timeout: Duration) {
    self.timeout = timeout
  }

  /// The error in words, with the timeout.
  public var description: String {
    "the delegate had not ended its call after \(timeout)"
  }
}
