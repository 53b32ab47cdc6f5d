/// How long the calls of a handler or a delegate took, as far as they were measured.
///
/// ## Thread safety
/// A value: any thread may use its copy.
public struct CallTiming: Sendable, Hashable, Codable {
  /// The number of calls that have begun.
  public let calls: Int

  /// The seconds that the last measured call took; `nil` if none was measured.
  public let last: Double?

  /// The seconds that the slowest measured call took; `nil` if none was measured.
  public let slowest: Double?
}
