#if NATS
  internal import FanOutCore

  /// What the broker says of a stream.
  struct StreamState: Sendable, Hashable {
    /// When it was created, in nanoseconds since 1970: tells it from another one of its name.
    var created: Int64
    var first: EventID
    var last: EventID
  }
#endif
