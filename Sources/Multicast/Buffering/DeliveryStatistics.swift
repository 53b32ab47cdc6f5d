/// What became of the calls or events for one subscriber.
///
/// `enqueued == delivered + dropped + discarded + pending`, at every moment.
public struct DeliveryStatistics: Sendable, Hashable {
  /// Those that were to be delivered.
  public internal(set) var enqueued = 0
  /// Those that were delivered. A queue's are counted when its burst, at most 64, is over; those of
  /// a sequence when `next()` has returned them.
  public internal(set) var delivered = 0
  /// Those that were lost because too many waited, or because a newer one took their place.
  public internal(set) var dropped = 0
  /// Those that were not delivered because the subscriber was removed, or died, before their turn,
  /// or because the subscription had ended before they came.
  public internal(set) var discarded = 0

  /// Those that wait, or are being delivered.
  public var pending: Int { enqueued - delivered - dropped - discarded }
}
