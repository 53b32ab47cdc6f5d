/// Whether a thread is doing work that one thread at a time may do.
///
/// A thread that brings work takes the role if it is free, does the work and whatever else arrives
/// in the meantime, and gives the role back when nothing is left. A thread that finds the role taken
/// leaves its work to the holder. No work is left over, because the holder finds nothing left and
/// gives the role back in one critical section.
///
/// ## Thread safety
/// None: it belongs to the state that a lock guards, together with the work.
struct ExclusiveRole {
  private(set) var isTaken = false

  /// Takes the role if it is free.
  ///
  /// - Returns: whether the caller has the role now.
  mutating func take() -> Bool {
    defer { isTaken = true }
    return !isTaken
  }

  /// Gives the role back if no work is left.
  ///
  /// - Returns: whether the caller goes on.
  mutating func keep(if hasWork: Bool) -> Bool {
    isTaken = hasWork
    return hasWork
  }
}
