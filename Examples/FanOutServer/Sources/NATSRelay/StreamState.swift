#if NATS
  internal import FanOutCore

  /// The state of a stream, from the broker.
  struct StreamState: Sendable, Hashable {
    /// The time of creation in nanoseconds since 1970. It distinguishes streams of the same name.
    var created: Int64
    var first: EventID
    var last: EventID
    /// The number of messages.
    var count: UInt64
    /// The numbers between the first and the last message that have left the stream, if they were
    /// asked for.
    var deleted: [EventID] = []
  }

  extension StreamState {
    /// How many messages between others have left the stream: because it has a limit for each
    /// subject, or because they were deleted.
    var gaps: UInt64 {
      let numbers = first <= last ? last - first + 1 : 0
      return numbers > count ? numbers - count : 0
    }

    /// The number up to which the stream has all messages after `id`, at most `last`.
    ///
    /// - Returns: `nil` if it does not have the next one any more, or not the list of those that
    ///   left.
    func complete(after id: EventID, through last: EventID) -> EventID? {
      guard first <= id + 1 else { return nil }
      guard gaps > 0 else { return last }
      guard !deleted.isEmpty else { return nil }
      let gap = deleted.lazy.filter { $0 > id && $0 <= last }.min()
      return gap.map { $0 == id + 1 ? nil : $0 - 1 } ?? last
    }
  }
#endif
