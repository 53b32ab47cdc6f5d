/// The error of a delegate that had not ended its call when the time was over.
///
/// See ``MulticastActor/invokeConcurrently(limit:timeout:clock:_:)``.
public struct DeliveryTimedOut: Error, Hashable, CustomStringConvertible {
  /// The time that was given to the invocation.
  public let timeout: Duration

  public init(timeout: Duration) {
    self.timeout = timeout
  }

  public var description: String {
    "the delegate had not ended its call after \(timeout)"
  }
}
