#if NATS
  /// Limits without an option. To use other limits for the stream, create it before the first
  /// server starts: the servers use an existing stream unchanged.
  enum Limits {
    // MARK: A new stream

    static let streamEvents: Int64 = 1_000_000
    static let streamNanoseconds: Int64 = 3600 * 1_000_000_000
    /// How long the broker remembers the keys of events: longer than a server retries.
    static let duplicatesNanoseconds: Int64 = 120 * 1_000_000_000

    // MARK: Any stream

    /// The same, at least: twice as long as a server retries, because a request may take a while.
    static let leastDuplicatesNanoseconds: Int64 = 10 * 1_000_000_000

    // MARK: Time limits

    /// For each response of the broker.
    static let answer = Duration.seconds(2)
    /// How long a server retries a publication without a response.
    static let publication = Duration.seconds(5)
    /// A connection is closed after two unanswered pings.
    static let pingMilliseconds: Int64 = 2000
    /// How often a server checks that the stream has not been replaced.
    static let streamCheckInterval = Duration.seconds(5)
    /// How long a fetch for a client is repeated if a connected broker does not answer: longer than
    /// it takes to notice that it is not connected.
    static let fetch = Duration.seconds(10)
    /// Between two attempts; doubled each time, because many clients may wait.
    static let firstFetchPause = Duration.milliseconds(100)
    static let longestFetchPause = Duration.seconds(2)
    /// How long the reading thread waits at most, so that it notices a shutdown.
    static let readMilliseconds: Int64 = 200

    // MARK: Sizes

    /// Events per read.
    static let batch = 256
    /// Events and bytes per fetch for a client that reconnects.
    static let pageEvents = 256
    static let pageBytes = 1 << 20
    /// How many messages may be missing between others for the broker to list them: a stream with a
    /// limit for each subject may have millions.
    static let listedGaps: UInt64 = 10_000
    /// Publications that wait for the broker at the same time; further ones are queued.
    static let publishingThreads = 8
    /// Fetches for clients at the same time.
    static let fetchingThreads = 4
  }

  extension Duration {
    /// Whole milliseconds, the unit of the C library.
    var milliseconds: Int64 { Int64(self / .milliseconds(1)) }
  }
#endif
