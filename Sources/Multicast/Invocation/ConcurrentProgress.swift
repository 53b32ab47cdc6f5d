/// The progress of a concurrent invocation, a state machine: which delegates remain to be called,
/// and whether answers count. It belongs to the invoking task.
@usableFromInline
struct ConcurrentProgress {
  /// Whether answers count.
  @usableFromInline
  enum Phase {
    /// Answers are received.
    case calling
    /// Answers are ignored, because an earlier one decided.
    case decided
    /// Answers are too late.
    case timeIsOver
  }

  @usableFromInline var phase: Phase
  @usableFromInline let count: Int
  @usableFromInline let limit: Int
  /// The number of children that have begun and not ended.
  @usableFromInline var running = 0
  /// The index of the first delegate for which no child has begun.
  @usableFromInline var next = 0

  /// The progress of an invocation of `count` delegates, at most `limit` concurrently.
  ///
  /// - Parameter isOver: whether the time is over before it begins.
  @inlinable
  init(count: Int, limit: Int, isOver: Bool) {
    self.count = count
    self.limit = limit
    phase = isOver ? .timeIsOver : .calling
  }
}

extension ConcurrentProgress {
  /// Begins the next child, if one may begin now.
  ///
  /// - Returns: the index of its delegate.
  @inlinable
  mutating func begin() -> Int? {
    guard phase == .calling, running < limit, next < count else { return nil }
    running += 1
    next += 1
    return next - 1
  }

  /// Ends a child.
  ///
  /// - Returns: whether its answer counts.
  @inlinable
  mutating func end() -> Phase {
    running -= 1
    return phase
  }

  /// Stops calling, because an answer decided or the time is over. The first reason counts.
  ///
  /// - Returns: whether this is the first reason.
  @inlinable
  mutating func stop(_ reason: Phase) -> Bool {
    guard phase == .calling else { return false }
    phase = reason
    return true
  }

  /// Takes the next delegate whose child had not begun when the time was over.
  ///
  /// - Returns: its index.
  @inlinable
  mutating func passLate() -> Int? {
    guard phase == .timeIsOver, next < count else { return nil }
    next += 1
    return next - 1
  }
}
