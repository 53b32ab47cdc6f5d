// The sender's side of a mailbox: append, replace and prepend elements, and stop waiting for space.

extension MailboxState {
  /// The outcome of ``offer(taking:)``.
  enum Offer {
    /// The element waits.
    case accepted
    /// The element waits, and the consumer must be woken.
    case acceptedByIdle
    /// Nothing was done: call ``append(_:sender:)``.
    case declined
  }

  /// Appends an element if the mailbox is open and has space: the fast path of
  /// ``append(_:sender:)``.
  ///
  /// - Parameter element: unless declined, the mailbox takes one retain of it.
  @inline(__always)
  mutating func offer(taking element: EnvelopeReference) -> Offer {
    guard end == nil, waiting.count < capacity else { return .declined }
    statistics.enqueued &+= 1
    waiting.append(taking: element, dropped: droppedAtEnd)
    droppedAtEnd = 0
    guard idleConsumers > 0 else { return .accepted }
    idleConsumers -= 1
    return .acceptedByIdle
  }

  /// Appends an element that tells the consumer to read elsewhere, unless one that it has not begun
  /// to handle waits already. So at most two wait: the rest of one that the consumer has begun,
  /// which is the first, and a new one.
  ///
  /// - Returns: `declined` if the mailbox has ended.
  mutating func signal() -> Offer {
    guard end == nil else { return .declined }
    return lastIsSignal ? .accepted : offer(taking: .signal)
  }

  /// As ``signal()``, also in a mailbox that has finished: there is something to read that it was
  /// not told of.
  mutating func signalBeforeEnd() -> Effects {
    var effects = Effects()
    if end != .cancelled, !lastIsSignal {
      statistics.enqueued += 1
      store(Item(element: .signal, dropped: 0), &effects)
    }
    return effects
  }

  private var lastIsSignal: Bool {
    !waiting.isEmpty && waiting[waiting.count - 1].element.isSignal
  }

  /// Appends an element, or applies the overflow policy.
  ///
  /// - Parameter sender: waits for space if the policy is `suspend`; `nil` if it cannot wait.
  mutating func append(_ element: Envelope, sender: SendWaiter? = nil) -> Effects {
    var effects = Effects()
    statistics.enqueued += 1
    if end != nil {
      statistics.discarded += 1
      effects.isRefused = end == .finished
      effects.garbage = element
    } else if waiting.count < capacity {
      store(makeItem(element), &effects)
    } else {
      appendToFull(element, sender, &effects)
    }
    return effects
  }

  /// Replaces the element at `position` if it still waits; otherwise appends `element`.
  ///
  /// - Returns: the position of `element`, and the effects.
  mutating func replace(_ position: Int?, with element: Envelope) -> (position: Int, Effects) {
    guard end == nil, let position, position >= front else {
      let effects = append(element)
      return (front + waiting.count - 1, effects)
    }
    var effects = Effects()
    statistics.enqueued += 1
    statistics.dropped += 1
    effects.dropped = 1
    effects.isAccepted = true
    effects.garbage = waiting.replaceElement(at: position - front, by: element)
    return (position, effects)
  }

  /// Inserts `elements`, a replay, before the elements that wait, because they are older. A finish
  /// or cancellation that arrived in the meantime still applies. If nothing is dropped, the
  /// elements that wait keep their positions.
  ///
  /// With `dropOldest` and `dropNewest` the limit applies as if the replay had arrived first. With
  /// `suspend` and `disconnect` the replay does not count: no sender could wait for space for it,
  /// and the consumer had no time to take it.
  mutating func prepend(_ elements: [Envelope]) -> [Effects] {
    switch whenFull {
    case .suspend, .disconnect:
      // More than the limit waits if the hub has finished while senders waited for space.
      let (sum, overflow) = max(limit - reserved, waiting.count).addingReportingOverflow(
        elements.count)
      // Not above `.max`, also when the reserved space is given back.
      capacity = min(overflow ? .max : sum, .max - reserved)
    case .dropOldest, .dropNewest: break
    }
    var later = ItemBuffer()
    swap(&later, &waiting)
    let endPosition = front + later.count
    let all = elements.count + later.count
    // Nothing is done in the meantime, whatever `front` is.
    var waitingFlushes: [(position: Int, latch: FlushLatch)] = []
    swap(&waitingFlushes, &flushes)
    let droppedAfterLater = droppedAtEnd
    droppedAtEnd = 0
    let previousEnd = end
    if end != .cancelled { end = nil }
    var effects = elements.map { append($0) }
    statistics.enqueued -= later.count
    while let item = later.popFirst() {
      droppedAtEnd += item.dropped
      effects.append(append(item.element))
    }
    droppedAtEnd += droppedAfterLater
    end = end ?? previousEnd
    front = endPosition - waiting.count
    // What was not appended, because the replay has taken its place, moves the rest towards the
    // end.
    let moved = whenFull == .dropNewest ? all - waiting.count : 0
    // Where senders wait for space, nothing moves: the policy is another one.
    let last = endPosition + parked.count
    flushes = waitingFlushes.map { (min($0.position + moved, last), $0.latch) }
    var completed = Effects()
    completed.flushed = takeCompletedFlushes()
    effects.append(completed)
    return effects
  }

  /// Stops the wait of `sender` and drops its element, which the next element counts as dropped.
  mutating func cancel(_ sender: SendWaiter) -> Effects {
    var effects = Effects()
    // Usually near an end: many senders are cancelled in the order in which they came, or in
    // reverse.
    guard !sender.isReleased, let offset = parked.offset(where: { $0.sender === sender })
    else { return effects }
    let item = parked.remove(at: offset).item
    statistics.dropped += 1
    let dropped = item.dropped + 1
    if offset < parked.count {
      parked[offset].item.dropped += dropped
    } else {
      droppedAtEnd += dropped
    }
    effects.dropped = 1
    effects.garbage = item.element
    effects.release(sender, .dropped)
    closeGap(atParked: offset)
    effects.flushed = takeCompletedFlushes()
    return effects
  }

  private mutating func appendToFull(
    _ element: Envelope, _ sender: SendWaiter?, _ effects: inout Effects
  ) {
    switch whenFull {
    case .dropOldest:
      let oldest = waiting.popFirst()!
      front += 1
      store(makeItem(element), &effects)
      // The new first element counts the dropped one, and those dropped before it.
      waiting.addDroppedBeforeFirst(oldest.dropped + 1)
      statistics.dropped += 1
      effects.dropped += 1
      effects.garbage = oldest.element
      effects.flushed = takeCompletedFlushes()
    case .suspend:
      guard let sender else {
        effects.isUnwaited = true
        return dropNew(element, &effects)
      }
      parked.append((makeItem(element), sender))
      effects.isParked = true
    case .dropNewest:
      dropNew(element, &effects)
    case .disconnect:
      dropNew(element, &effects)
      end = .disconnected
      wake(&effects)
    }
  }

  private mutating func dropNew(_ element: Envelope, _ effects: inout Effects) {
    statistics.dropped += 1
    droppedAtEnd += 1
    effects.dropped += 1
    effects.garbage = element
  }

  /// `element` with the number of elements dropped before it.
  private mutating func makeItem(_ element: Envelope) -> Item {
    defer { droppedAtEnd = 0 }
    return Item(element: element, dropped: droppedAtEnd)
  }
}
