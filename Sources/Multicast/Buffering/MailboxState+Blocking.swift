// A blocked consumer takes nothing. What waits, and what it gives back, waits for the last unblock.

extension MailboxState {
  /// Makes the consumer pause, or continue. A flush does not wait for a paused one.
  ///
  /// - Parameter element: what a consumer that continues takes after what waits; `nil`: nothing.
  /// - Returns: the effects. `wake` tells whether an idle consumer must come back.
  mutating func setBlocked(_ isBlocked: Bool, then element: Envelope? = nil) -> Effects {
    self.isBlocked = isBlocked
    var effects = Effects()
    if !isBlocked, let element { effects = appendBeforeEnd(element) }
    effects.flushed += takeCompletedFlushes()
    if !isBlocked && (hasWaiting || end != nil) { wake(&effects) }
    return effects
  }

  /// As ``append(_:sender:)``, also in a mailbox that has finished: it was sent before the end.
  private mutating func appendBeforeEnd(_ element: Envelope) -> Effects {
    guard end == nil || end == .finished else { return Effects() }
    let previousEnd = end
    end = nil
    let effects = append(element)
    end = end ?? previousEnd
    return effects
  }

  /// Puts elements in flight that were not delivered back to the front, unless the mailbox was
  /// cancelled. They take no space from others, but may be dropped as the oldest. What remains in
  /// `elements` is to be destroyed outside the critical section.
  mutating func putBack(_ elements: inout ItemBuffer) {
    guard !elements.isEmpty, end != .cancelled else { return }
    // What waited behind them may have been dropped: then they have higher positions now.
    let oldEnd = inFlightStart + inFlight
    if front > oldEnd {
      for index in flushes.indices {
        let position = flushes[index].position
        flushes[index].position =
          position <= oldEnd ? position + front - oldEnd : max(position, front)
      }
    }
    inFlight -= elements.count
    front -= elements.count
    if whenFull != .dropOldest {
      // Not above `.max`, also when the reserved space is given back.
      capacity = min(capacity, .max - reserved - elements.count) + elements.count
    }
    while let next = waiting.popFirst() { elements.append(next) }
    swap(&elements, &waiting)
  }
}
