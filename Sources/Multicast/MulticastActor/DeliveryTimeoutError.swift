/// The result of a call that had not ended when the timeout of its invocation expired.
///
/// See ``MulticastActor/invokeConcurrently(limit:timeout:clock:_:)``.
///
/// ## Thread safety
/// A value: any thread may use its copy.
public struct DeliveryTimeoutError: Error, Hashable, CustomStringConvertible {
  /// The timeout of the invocation.
  public let timeout: Duration

  /// The name of the hub, if it has one.
  public let hub: String?

  /// Creates an error for an invocation with this timeout, of the hub with this name.
  ///
  /// - Parameters:
  ///   - timeout: the timeout of the invocation.
  ///   - hub: the name of the hub, if it has one.
  public init(timeout: Duration, hub: String? = nil) {
    self.timeout = timeout
    self.hub = hub
  }

  /// The error in words, with the timeout and the name of the hub.
  public var description: String {
    let hub = hub.map { "in the hub \"\($0)\" " } ?? ""
    return "\(hub)the delegate had not ended its call after \(timeout)"
  }
}
