// Reserved space: a sender first finds out whether every mailbox has space for its element, and
// then appends it to all of them or to none. Reserved space counts as used for every other sender.

extension MailboxState {
  /// The outcome of ``reserve(beside:)``.
  enum Reservation {
    /// Call ``commit(_:)`` or ``release()``.
    case reserved
    /// An element can always be appended: the mailbox has no limit, drops older elements instead,
    /// or has ended.
    case unneeded
    /// The element would be dropped, or its sender would have to wait.
    case full
    /// There is space now, but elements that were sent before may need it.
    case claimed

    /// Whether the element can be appended later.
    var isSufficient: Bool { self == .reserved || self == .unneeded }
  }

  /// Reserves space for one element.
  ///
  /// - Parameter others: the number of elements that were sent before and may not have arrived yet.
  mutating func reserve(beside others: Int) -> Reservation {
    guard end == nil, limit < .max, whenFull != .dropOldest else { return .unneeded }
    guard capacity > waiting.count else { return .full }
    guard capacity - waiting.count > others else { return .claimed }
    reserved += 1
    capacity -= 1
    return .reserved
  }

  /// Appends an element to reserved space, before those whose senders wait.
  mutating func commit(_ element: Envelope) -> Effects {
    reserved -= 1
    capacity += 1
    let position = front + waiting.count
    // What was dropped after the elements that are parked is counted by an element that follows
    // those.
    let droppedAfterParked = parked.isEmpty ? 0 : droppedAtEnd
    droppedAtEnd -= droppedAfterParked
    let effects = append(element)
    droppedAtEnd += droppedAfterParked
    if effects.isAccepted { makeGap(at: position) }
    return effects
  }

  /// Gives reserved space back.
  mutating func release() -> Effects {
    reserved -= 1
    capacity += 1
    var effects = Effects()
    admitParked(&effects)
    return effects
  }
}
