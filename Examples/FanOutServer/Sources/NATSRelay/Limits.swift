#if NATS
  /// Limits that are no options. Whoever wants others for the stream creates it before the first
  /// server does: one that exists is used as it is.
  enum Limits {
    // MARK: The stream that is created

    static let streamEvents: Int64 = 1_000_000
    static let streamBytes: Int64 = 1 << 30
    static let streamNanoseconds: Int64 = 3600 * 1_000_000_000
    /// How long the broker knows the keys of events: longer than anybody tries again.
    static let duplicatesNanoseconds: Int64 = 120 * 1_000_000_000

    // MARK: Patience

    /// For any answer of the broker.
    static let answer = Duration.seconds(2)
    /// How long publishing is tried again when the broker gives no answer.
    static let publication = Duration.seconds(5)
    /// A connection on which two pings are without an answer is dead.
    static let pingMilliseconds: Int64 = 2000
    /// How often a server looks whether the stream is still the one that it reads.
    static let streamCheckInterval = Duration.seconds(5)
    /// How long a client waits for a broker that is away to have what it has missed.
    static let fetch = Duration.seconds(1)
    /// How long a client waits for an event that it has from another server.
    static let arrival = Duration.seconds(1)
    /// How long the reading thread waits at a time, so that it sees a shutdown.
    static let readMilliseconds: Int64 = 200

    // MARK: Sizes

    /// Events that are read in one go.
    static let batch = 256
    /// What is fetched in one go for a client that comes back.
    static let pageEvents = 256
    static let pageBytes = 1 << 20
    /// Publishers wait for the broker at the same time; others wait for their turn.
    static let publishingThreads = 8
    /// As many clients that come back are served at the same time.
    static let fetchingThreads = 4
  }

  extension Duration {
    /// Whole ones, as the C library counts.
    var milliseconds: Int64 { Int64(self / .milliseconds(1)) }
  }
#endif
