/// The error of a delegate that had not ended its call when the time was over.
///
/// See ``MulticastActor/invokeConcurrently(limit:timeout:clock:_:)``.
public struct DeliveryTimedOut: Error, Hashable, CustomStringConvertible {
  /// The time that was given to the invocation.
  public let timeout: Duration

  /// An error that says how much time there was.
  public init(timeout: Duration) {
    self.timeout = timeout
  }

  /// What has happened, in words, with the time.
  public var description: String {
    "the delegate had not ended its call after \(timeout)"
  }
}
