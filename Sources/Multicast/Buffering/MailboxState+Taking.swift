// The consumer's side of a mailbox: take elements, finish them, become idle.

extension MailboxState {
  /// Whether an element waits.
  var hasWaiting: Bool { !waiting.isEmpty }

  /// Whether the mailbox has ended and nothing waits.
  var isExhausted: Bool { end != nil && waiting.isEmpty }

  /// Whether no sender and no flush waits for elements to be taken or finished.
  private var isUnobserved: Bool { parked.isEmpty && flushes.isEmpty }

  /// As ``take(_:into:)``, without effects if nothing can have any: to make and destroy them costs
  /// more than the rest.
  @inline(__always)
  mutating func beginBatch(_ share: Int, into batch: inout ItemBuffer) -> Effects? {
    guard isUnobserved else { return take(share, into: &batch) }
    takeUnobserved(share, into: &batch)
    return nil
  }

  /// As ``finishTaken(delivered:)``, without effects if nothing can have any.
  ///
  /// - Returns: whether the consumer must come back, and the effects.
  @inline(__always)
  mutating func endBatch(delivered: Int) -> (mustContinue: Bool, effects: Effects?) {
    guard isUnobserved else {
      let effects = finishTaken(delivered: delivered)
      return (effects.wake, effects)
    }
    return (finishTakenUnobserved(delivered: delivered), nil)
  }

  /// Moves at most `share` elements into `batch`, which is empty, and lets parked elements follow.
  mutating func take(_ share: Int, into batch: inout ItemBuffer) -> Effects {
    var effects = Effects()
    takeUnobserved(flushes.isEmpty ? share : min(share, shareOfFirstFlush), into: &batch)
    admitParked(&effects)
    return effects
  }

  /// As ``take(_:into:)``, if the state ``isUnobserved``.
  private mutating func takeUnobserved(_ share: Int, into batch: inout ItemBuffer) {
    let count = isBlocked ? 0 : min(share, waiting.count)
    waiting.moveFirst(count, to: &batch)
    inFlightStart = front
    front += count
    inFlight = count
    freeCapacity(count)
  }

  /// Takes the element that waits if it is the only one, for the only consumer, and if the state
  /// ``isUnobserved``.
  ///
  /// - Returns: the element, with a retain of the caller's.
  mutating func takeOnly() -> EnvelopeReference? {
    guard waiting.count == 1, isUnobserved, !isBlocked, let item = waiting.popFirst() else {
      return nil
    }
    inFlightStart = front
    front += 1
    inFlight = 1
    freeCapacity(1)
    return item.element.intoReference()
  }

  /// Finishes an element that ``takeOnly()`` took and that was delivered, if nothing else is to be
  /// done.
  ///
  /// - Returns: whether it was finished.
  mutating func finishOnly() -> Bool {
    guard waiting.isEmpty, isUnobserved, end == nil else { return false }
    statistics.delivered += 1
    idleConsumers = 1
    inFlight = 0
    return true
  }

  /// Ends the extra space of elements that do not count, as far as `count` taken ones have used it.
  private mutating func freeCapacity(_ count: Int) {
    capacity = max(limit - reserved, capacity - count)
  }

  /// Moves parked elements into free space.
  mutating func admitParked(_ effects: inout Effects) {
    while end == nil, waiting.count < capacity, let next = parked.popFirst() {
      store(next.item, &effects)
      effects.release(next.sender, .accepted)
    }
  }

  /// Finishes the elements in flight. The consumer becomes idle unless elements wait or it lingers;
  /// a blocked one always.
  ///
  /// - Parameter delivered: how many were delivered; the others were discarded.
  /// - Returns: the effects. `wake` tells whether the consumer must come back.
  mutating func finishTaken(delivered: Int) -> Effects {
    var effects = Effects()
    effects.wake = finishTakenUnobserved(delivered: delivered)
    effects.flushed = takeCompletedFlushes()
    return effects
  }

  /// As ``finishTaken(delivered:)``, if the state ``isUnobserved``.
  ///
  /// - Returns: whether the consumer must come back.
  private mutating func finishTakenUnobserved(delivered: Int) -> Bool {
    statistics.delivered += delivered
    statistics.discarded += inFlight - delivered
    let isIdle = isBlocked || (waiting.isEmpty && !lingers(tookSome: inFlight > 0))
    idleConsumers = isIdle ? 1 : 0
    inFlight = 0
    return !isIdle
  }

  /// Takes the first element, for one of several consumers, which becomes idle if there is none.
  mutating func takeOne() -> (taken: (element: Envelope, position: Int)?, Effects) {
    var effects = Effects()
    guard !isBlocked, let item = waiting.popFirst() else {
      idleConsumers += 1
      return (nil, effects)
    }
    let position = front
    front += 1
    if inFlight == 0 { inFlightStart = position }
    inFlight += 1
    inFlightPositions.append(position)
    freeCapacity(1)
    admitParked(&effects)
    // One after the other, all consumers wake, however many elements an input has added at once.
    if hasWaiting { wake(&effects) }
    return ((item.element, position), effects)
  }

  /// Finishes the element that one of several consumers took at `position`.
  mutating func finishOne(_ position: Int, isDelivered: Bool) -> Effects {
    var effects = Effects()
    if isDelivered { statistics.delivered += 1 } else { statistics.discarded += 1 }
    inFlight -= 1
    inFlightPositions.removeAll { $0 == position }
    inFlightStart = inFlightPositions.min() ?? front
    effects.flushed = takeCompletedFlushes()
    return effects
  }

  private mutating func lingers(tookSome: Bool) -> Bool {
    guard mayLinger, end == nil else { return false }
    guard tookSome else {
      lingerPause = 16
      return false
    }
    guard lingerPause == 0 else {
      lingerPause -= 1
      return false
    }
    return true
  }

  /// Makes the consumer idle if nothing waits and more may come.
  ///
  /// - Returns: whether it is idle now.
  mutating func sleep() -> Bool {
    guard waiting.isEmpty && end == nil else { return false }
    idleConsumers = 1
    return true
  }

  /// The number of elements dropped after the last one, returned once.
  mutating func takeDroppedAtEnd() -> Int {
    defer { droppedAtEnd = 0 }
    return droppedAtEnd
  }
}
