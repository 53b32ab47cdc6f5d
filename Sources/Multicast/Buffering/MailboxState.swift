/// The state machine of a mailbox: the elements that wait, the senders that wait for space, and the
/// flushes. It has no locks and runs no user code.
///
/// The consumer is a block on a queue or a task. An *idle* consumer must be woken for the next
/// element; any other consumer will take it without being woken.
///
///     idle ──append: wake──▶ busy ──take──▶ busy, n in flight ──finish──▶ idle, or busy if more
///
/// Waking a block costs much more than appending. So a consumer that may *linger* comes back once
/// more before it becomes idle: in a burst it finds the elements that arrived in the meantime, and
/// senders need not wake it. If it finds none, it does not linger the next few times.
///
/// Each input returns its ``Effects``: what the caller must do after it has left its critical
/// section. They include dropped elements, because destroying an element may run user code.
struct MailboxState: ~Copyable {
  /// An element that waits, and the number of elements dropped just before it.
  struct Item {
    var element: Envelope
    var dropped: Int
  }

  // First what a sender uses, so that it is in few cache lines.
  var waiting = ItemBuffer()
  /// How many elements may wait now: the limit, or more while some wait that do not count, without
  /// the reserved space.
  var capacity: Int
  /// The number of elements dropped after the last one that waits or is parked.
  var droppedAtEnd = 0
  /// The number of consumers that must be woken for an element. Most mailboxes have one consumer.
  var idleConsumers: Int
  var end: SubscriptionEnd?
  var statistics = DeliveryStatistics()
  let limit: Int
  let whenFull: OverflowPolicy
  /// The number of elements for which space is reserved.
  var reserved = 0
  /// Elements whose senders wait for space, in order. They follow those in `waiting`.
  var parked = RingBuffer<(item: Item, sender: SendWaiter)>()
  let mayLinger: Bool
  /// How many more times the consumer does not linger.
  var lingerPause = 0
  /// Whether consumers take nothing for now.
  var isBlocked = false
  /// Whether a flush does not wait for what consumers have taken: a sequence that was cancelled may
  /// never be asked again.
  var isAbandoned = false
  /// The number of elements that consumers have taken and not finished.
  var inFlight = 0
  /// The position of the first of them.
  var inFlightStart = 0
  /// Their positions, if there are several consumers.
  var inFlightPositions: [Int] = []
  /// The number of elements that have left the front: the position of the first that waits.
  var front = 0
  var flushes: [(position: Int, latch: FlushLatch)] = []

  /// - Parameters:
  ///   - isIdle: whether the consumer must be woken for the first element.
  ///   - consumers: how many consumers take elements, one at a time if there are several.
  ///   - mayLinger: whether the consumer may come back once more before it becomes idle.
  init(
    limit: Int, whenFull: OverflowPolicy, isIdle: Bool, consumers: Int = 1, mayLinger: Bool = false
  ) {
    self.mayLinger = mayLinger
    self.limit = limit
    capacity = limit
    self.whenFull = whenFull
    idleConsumers = isIdle ? consumers : 0
  }

  /// What the caller must do after an input, outside its critical section.
  struct Effects {
    /// Whether to wake the consumer.
    var wake = false
    /// Whether the new element waits now.
    var isAccepted = false
    /// Whether the sender was parked. It is resumed when there is space.
    var isParked = false
    /// Whether the element was discarded because the hub has finished.
    var isRefused = false
    /// The number of elements dropped.
    var dropped = 0
    /// Whether they were dropped for want of a sender that waits.
    var isUnwaited = false
    /// An element to destroy.
    var garbage: Envelope?
    /// Senders to resume.
    var released: [SendWaiter] = []
    /// Completed flushes.
    var flushed: [FlushLatch] = []

    mutating func release(_ sender: SendWaiter, _ outcome: SendWaiter.Outcome) {
      sender.outcome = outcome
      released.append(sender)
    }
  }

  mutating func store(_ item: Item, _ effects: inout Effects) {
    waiting.append(item)
    effects.isAccepted = true
    wake(&effects)
  }

  mutating func wake(_ effects: inout Effects) {
    guard idleConsumers > 0, !effects.wake else { return }
    effects.wake = true
    idleConsumers -= 1
  }

  /// Ends the mailbox: it accepts no more elements. Those of waiting senders were sent before, so
  /// they join those that wait, beyond the limit. If the reason is `cancelled`, all are discarded.
  ///
  /// - Parameter discarded: an empty buffer, which gets the discarded elements, to be destroyed
  ///   outside the critical section.
  mutating func close(_ reason: SubscriptionEnd, discarded: inout ItemBuffer) -> Effects {
    var effects = Effects()
    var parkedElements = ItemBuffer()
    end = end ?? reason
    while let next = parked.popFirst() {
      if reason == .cancelled {
        statistics.discarded += 1
        parkedElements.append(next.item)
        effects.release(next.sender, .discarded)
      } else {
        store(next.item, &effects)
        effects.release(next.sender, .accepted)
      }
    }
    if reason == .cancelled {
      swap(&discarded, &waiting)
      statistics.discarded += discarded.count
      parkedElements.moveFirst(parkedElements.count, to: &discarded)
      front += discarded.count
      if end == .cancelled { droppedAtEnd = 0 }
      effects.flushed = takeCompletedFlushes()
    }
    wake(&effects)
    return effects
  }
}
