/// The progress of a concurrent invocation: which delegates remain to be called, and what an answer
/// is worth. It belongs to the task that invokes.
@usableFromInline
struct ConcurrentProgress {
  /// What happens to the answers that arrive.
  @usableFromInline
  enum Phase {
    /// They are received.
    case calling
    /// They are ignored, because those that came before them decided.
    case decided
    /// They came too late.
    case timeIsOver
  }

  @usableFromInline var phase: Phase
  @usableFromInline let count: Int
  @usableFromInline let limit: Int
  /// The number of children that have begun and not ended.
  @usableFromInline var running = 0
  /// The index of the first delegate for which no child has begun.
  @usableFromInline var next = 0

  /// The progress of an invocation of `count` delegates, at most `limit` at once.
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
  /// - Returns: what its answer is worth.
  @inlinable
  mutating func end() -> Phase {
    running -= 1
    return phase
  }

  /// Stops calling, because the answers are decided or the time is over. The first reason counts.
  ///
  /// - Returns: whether this is the first reason.
  @inlinable
  mutating func stop(_ reason: Phase) -> Bool {
    guard phase == .calling else { return false }
    phase = reason
    return true
  }

  /// Takes the next delegate for which the time was over before its child began.
  ///
  /// - Returns: its index.
  @inlinable
  mutating func passLate() -> Int? {
    guard phase == .timeIsOver, next < count else { return nil }
    next += 1
    return next - 1
  }
}
