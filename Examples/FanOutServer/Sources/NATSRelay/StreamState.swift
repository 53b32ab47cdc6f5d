#if NATS
  internal import FanOutCore

  /// The state of a stream, from the broker.
  struct StreamState: Sendable, Hashable {
    /// The time of creation in nanoseconds since 1970. It distinguishes streams of the same name.
    var created: Int64
    var first: EventID
    var last: EventID
  }
#endif
