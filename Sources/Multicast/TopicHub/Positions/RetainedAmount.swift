/// How much a ``TopicHub`` retains.
///
/// ## Thread safety
/// A value: any thread may use its copy.
public struct RetainedAmount: Hashable, Sendable {
  /// The number of events.
  public let events: Int
  /// The number of topics with such events.
  public let topics: Int
  /// The sum of their sizes, by the measure of the retention; 0 without one.
  public let bytes: Int
}
