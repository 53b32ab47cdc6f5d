/// What one delegate has received of the numbers 1, 2, 3… that one sender sends.
struct ReceivedRun {
  private(set) var first = 0
  private(set) var last = 0
  /// The first number that did not follow the one before it, and that one.
  private(set) var gap: (after: Int, came: Int)?

  mutating func receive(_ number: Int) {
    if first == 0 {
      first = number
    } else if number != last + 1, gap == nil {
      gap = (last, number)
    }
    last = number
  }

  /// What must not have happened to a delegate that was registered once, if anything.
  ///
  /// - Parameters:
  ///   - added: what the sender had completed before the delegate was added, and begun when it had
  ///     been added.
  ///   - removed: what the sender had completed before the delegate was removed, and begun when it
  ///     had been removed.
  func violation(added: Progress, removed: Progress) -> String? {
    if let gap { return "\(gap.came) came after \(gap.after)" }
    if first == 0 {
      let isMissing = removed.completed > added.begun
      return isMissing ? "\(added.begun + 1) to \(removed.completed) did not come" : nil
    }
    if first <= added.completed { return "\(first) came, which was sent before the addition" }
    if first > added.begun + 1 {
      return "\(first) came first, and \(added.begun + 1) was sent after the addition"
    }
    if last < removed.completed {
      return "\(last) came last, and \(removed.completed) was sent before the removal"
    }
    if last > removed.begun { return "\(last) came, which was sent after the removal" }
    return nil
  }

  /// The progress of a sender.
  struct Progress {
    var begun = 0
    var completed = 0
  }
}
