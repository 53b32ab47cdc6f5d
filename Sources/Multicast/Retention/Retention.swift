/// Which of its past events a hub keeps, for subscribers that come late, come back, or fall behind.
///
/// ```swift
/// let chat = EventHub<Message>(retention: .last(1_000).and(.seconds(3_600)))
/// ```
/// A hub keeps an event as long as each part of its retention keeps it. All subscribers share what
/// is kept: one that replays it copies nothing.
///
/// Functions of the user run with no lock held: sizes and keys once per event.
///
/// ## Thread safety
/// A value: any thread may use it. Each sender calls the size of its own event, several at once if
/// several send; one thread at a time for each hub calls the other closures.
public struct Retention<Event: Sendable>: Sendable {
  /// The most events.
  var count = Int.max
  /// The most bytes.
  var bytes = Int.max
  var size: (@Sendable (Event) -> Int)?
  var age: Duration?
  /// Makes the index for the newest event of each key.
  var makeIndex: (@Sendable () -> RetentionIndex<Event>)?
  /// Decides about the oldest event.
  var keeps: (@Sendable (Event) -> Bool)?

  private init() {}

  /// Whether nothing is kept.
  var isNone: Bool { count == 0 }

  /// Whether no user code decides, except about sizes.
  var hasOnlyLimits: Bool { makeIndex == nil && keeps == nil }

  // MARK: - Kinds

  /// Keeps nothing. The hub has no positions then, unless it has a replay.
  public static var none: Retention { last(0) }

  /// Keeps every event as long as the hub lives. Use it with functions that limit it.
  public static var all: Retention { Retention() }

  /// Keeps the newest `count` events.
  ///
  /// - Parameter count: the most events.
  /// - Returns: the retention.
  /// - Precondition: `count` is not negative.
  /// - Complexity: O(1) per event.
  public static func last(_ count: Int) -> Retention {
    require(
      count >= 0, "Multicast: a hub cannot retain \(count) events; use a number of at least 0.")
    var retention = Retention()
    retention.count = count
    return retention
  }

  /// Keeps the newest events whose sizes are at most `limit` together. An event that is larger is
  /// not kept, nor is any event before it.
  ///
  /// - Parameters:
  ///   - limit: in the unit of `size`, such as bytes.
  ///   - size: the size of an event. The thread that sends calls it once per event.
  /// - Returns: the retention.
  /// - Precondition: `limit` is not negative, nor is any size.
  /// - Complexity: amortised O(1) per event.
  public static func bytes(
    _ limit: Int, size: @escaping @Sendable (Event) -> Int
  ) -> Retention {
    require(
      limit >= 0, "Multicast: a hub cannot retain \(limit) bytes; use a limit of at least 0.")
    var retention = Retention()
    retention.bytes = limit
    retention.size = size
    return retention
  }

  /// Keeps the events that were sent in the last `seconds`, and those up to 1/64 older. Older ones
  /// are destroyed when the next event is sent or a subscriber reads.
  ///
  /// - Parameter seconds: by the clock that goes on while the system sleeps.
  /// - Returns: the retention.
  /// - Precondition: `seconds` is positive.
  /// - Complexity: amortised O(1) per event.
  public static func seconds(_ seconds: Double) -> Retention {
    require(
      seconds > 0,
      "Multicast: a hub cannot retain events for \(seconds) seconds; use a positive number.")
    var retention = Retention()
    // `seconds` may be infinite, which a `Duration` cannot be.
    retention.age = min(.seconds(min(seconds, 1e10)), .longestTimeout)
    return retention
  }

  /// Keeps the newest event of each key, and removes the one before it: a compacted log. What was
  /// replaced so is not reported as missed. A subscriber that is reading may still receive it.
  ///
  /// An event is added before the one with its key is removed. A limit that both together exceed
  /// also removes the oldest event, which may have another key. So choose a limit that is larger
  /// than the number of keys: by one for each thread that sends.
  ///
  /// - Parameter key: the key of an event. One thread at a time calls it, and the key's
  ///   `hash(into:)` and `==`.
  /// - Returns: the retention.
  /// - Complexity: amortised O(log retained events) per event.
  public static func latestPerKey<Key: Hashable & Sendable>(
    by key: @escaping @Sendable (Event) -> Key
  ) -> Retention {
    var retention = Retention()
    retention.makeIndex = { RetentionIndex(by: key) }
    return retention
  }

  /// Keeps an event while `condition` holds: after each event, the oldest ones for which it does
  /// not hold are removed.
  ///
  /// - Parameter condition: called with the oldest event. One thread at a time calls it.
  /// - Returns: the retention.
  /// - Complexity: amortised O(1) calls per event.
  public static func keeping(
    while condition: @escaping @Sendable (Event) -> Bool
  ) -> Retention {
    var retention = Retention()
    retention.keeps = condition
    return retention
  }

  /// Keeps what both keep.
  ///
  /// - Parameter other: another retention.
  /// - Returns: the retention.
  /// - Precondition: not both limit sizes, and not both have keys.
  public func and(_ other: Retention) -> Retention {
    require(
      size == nil || other.size == nil,
      "Multicast: a retention has two sizes of an event; use `bytes` once.")
    require(
      makeIndex == nil || other.makeIndex == nil,
      "Multicast: a retention has two keys of an event; use `latestPerKey` once.")
    var both = Retention()
    both.count = min(count, other.count)
    both.bytes = min(bytes, other.bytes)
    both.size = size ?? other.size
    both.age = [age, other.age].compactMap { $0 }.min()
    both.makeIndex = makeIndex ?? other.makeIndex
    both.keeps = keeps ?? other.keeps
    if let ours = keeps, let theirs = other.keeps { both.keeps = { ours($0) && theirs($0) } }
    return both
  }
}

extension Retention: CustomStringConvertible {
  /// The calls that make the retention, such as `last(1000).and(seconds(3600.0))`, without the
  /// closures.
  ///
  /// - Complexity: O(1).
  public var description: String {
    let parts = [
      count == .max ? nil : "last(\(count))",
      size == nil ? nil : "bytes(\(bytes))",
      age.map { "seconds(\($0 / .seconds(1)))" },
      makeIndex == nil ? nil : "latestPerKey",
      keeps == nil ? nil : "keeping",
    ].compactMap { $0 }
    guard let first = parts.first else { return "all" }
    return first + parts.dropFirst().map { ".and(\($0))" }.joined()
  }
}

/// The number of the newest event of each key.
///
/// ## Thread safety
/// One thread at a time, which has the role of delivering.
struct RetentionIndex<Event: Sendable>: Sendable {
  /// Records the number of an event.
  ///
  /// - Returns: the number of the event with the same key that it replaces.
  let replace: @Sendable (Event, UInt64) -> UInt64?
  /// Removes the keys of events up to a number.
  let removeKeys: @Sendable (UInt64) -> Void
  /// The number of keys.
  let count: @Sendable () -> Int

  init<Key: Hashable & Sendable>(by key: @escaping @Sendable (Event) -> Key) {
    let table = Table<Key>()
    replace = { event, number in table.numbers.updateValue(number, forKey: key(event)) }
    removeKeys = { limit in table.numbers = table.numbers.filter { $0.value > limit } }
    count = { table.numbers.count }
  }

  private final class Table<Key: Hashable & Sendable>: @unchecked Sendable {
    // Sendable: only the closures above use it, on one thread at a time.
    var numbers: [Key: UInt64] = [:]
  }
}
