#if NATS
  /// The delay before the next connection attempt: exponential backoff up to a limit, with jitter,
  /// so that servers that lost the same broker do not reconnect at the same time.
  struct Backoff {
    private static let shortest = 100.0
    /// A broker that returns has its servers back within a second.
    private static let longest = 800.0

    private var milliseconds = shortest

    /// Whether no attempt has failed since the last success.
    var isFresh: Bool { milliseconds == Self.shortest }

    mutating func next() -> Duration {
      defer { milliseconds = min(2 * milliseconds, Self.longest) }
      return .milliseconds(.random(in: milliseconds / 2...milliseconds))
    }
  }

  /// The failures since the last success.
  struct Outage {
    var backoff = Backoff()
    private var isReported: (stream: Bool, connection: Bool) = (false, false)

    /// Whether a failure is one of the first attempts, or the first of its kind.
    ///
    /// - Parameter isOfStream: whether the broker could be reached, but not its stream be used.
    mutating func isNew(isOfStream: Bool) -> Bool {
      let wasReported = isOfStream ? isReported.stream : isReported.connection
      if isOfStream { isReported.stream = true } else { isReported.connection = true }
      return !wasReported || backoff.isFresh
    }
  }
#endif
