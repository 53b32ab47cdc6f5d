/// Work that one thread at a time may do.
///
/// A thread that adds work takes the role if it is free, does its work and all work that arrives in
/// the meantime, and gives the role up when none is left. If another thread has the role, the work
/// is left to that thread. No work stays undone, because the holder finds that none is left and
/// gives the role up in one critical section.
///
/// ## Thread safety
/// None: the lock that guards the work guards the role too.
struct ExclusiveRole {
  private(set) var isTaken = false

  /// Takes the role if it is free.
  ///
  /// - Returns: whether the caller has the role now.
  mutating func take() -> Bool {
    defer { isTaken = true }
    return !isTaken
  }

  /// Gives the role up if no work is left.
  ///
  /// - Returns: whether the caller keeps the role.
  mutating func keep(if hasWork: Bool) -> Bool {
    isTaken = hasWork
    return hasWork
  }
}
