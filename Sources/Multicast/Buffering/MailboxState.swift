/// What waits in a mailbox, and what is owed to whom: a state machine without locks, threads or
/// user code.
///
/// The consumer is a block on a queue or a task. It is *idle* when it has nothing to do and must be
/// woken for the next element; otherwise it will come by itself.
///
///     idle ──append: wake──▶ busy ──take──▶ busy, n in flight ──finish──▶ idle, or busy if more
///
/// Waking a block costs much more than appending. So a consumer that may *linger* comes back once
/// more before it is idle: during a burst it finds what has piled up meanwhile, and the senders
/// have nothing to wake. If it comes back in vain, it does not linger the next few times.
///
/// Each input returns its ``Effects``: what the caller has to do after it has left its critical
/// section. Elements that are dropped are among them, because destroying one may run user code.
struct MailboxState {
  /// An element that waits, and how many were lost between it and the one before.
  struct Item {
    var element: Envelope
    var dropped: Int
  }

  let limit: Int
  let whenFull: OverflowPolicy
  /// How many elements may wait now: the limit, and what is left of a replay that does not count.
  private var capacity: Int
  private var waiting = RingBuffer<Item>()
  /// How many were lost behind the last element, which waits or is parked.
  private var droppedAtEnd = 0
  /// Elements of senders that wait for room, in order. They come after those that wait.
  private var parked = RingBuffer<(item: Item, sender: SendWaiter)>()
  private var isIdle: Bool
  private let mayLinger: Bool
  /// How many more times the consumer does not linger.
  private var lingerPause = 0
  /// How many elements the consumer has taken and not yet finished.
  private var inFlight = 0
  /// How many elements have left the front: the position of the first that waits.
  private(set) var front = 0
  private(set) var end: SubscriptionEnd?
  private(set) var statistics = DeliveryStatistics()
  private(set) var flushes: [(position: Int, latch: FlushLatch)] = []

  /// - Parameters:
  ///   - isIdle: whether the consumer must be woken for the first element.
  ///   - mayLinger: whether it may come back once more before it is idle.
  init(limit: Int, whenFull: OverflowPolicy, isIdle: Bool, mayLinger: Bool = false) {
    self.mayLinger = mayLinger
    self.limit = limit
    capacity = limit
    self.whenFull = whenFull
    self.isIdle = isIdle
  }

  /// What is left to do after an input.
  struct Effects {
    /// Whether to wake the consumer.
    var wake = false
    /// Whether the element that was appended waits now.
    var isAccepted = false
    /// Whether the sender was parked: it will be told when there is room.
    var isParked = false
    /// Whether the element was discarded because the backlog has finished.
    var isRefused = false
    /// How many elements were dropped.
    var dropped = 0
    /// An element to be destroyed.
    var garbage: Envelope?
    /// Senders to be resumed.
    var released: [SendWaiter] = []
    /// Flushes that are complete.
    var flushed: [FlushLatch] = []
  }
}

// MARK: - The sender's side

extension MailboxState {
  /// What happened to an element that was offered.
  enum Offer {
    /// It waits.
    case accepted
    /// It waits, and the consumer is to be woken.
    case acceptedByIdle
    /// Nothing: there is more to it, see ``append(_:sender:)``.
    case declined
  }

  /// Appends an element if it waits and that is all: the short form of ``append(_:sender:)``.
  mutating func offer(_ element: Envelope) -> Offer {
    guard end == nil, waiting.count < capacity else { return .declined }
    statistics.enqueued += 1
    waiting.append(Item(element: element, dropped: droppedAtEnd))
    droppedAtEnd = 0
    guard isIdle else { return .accepted }
    isIdle = false
    return .acceptedByIdle
  }

  /// An element arrives.
  ///
  /// - Parameter sender: who can wait for room, if the policy is to suspend; `nil` if the sender
  ///   cannot wait.
  mutating func append(_ element: Envelope, sender: SendWaiter? = nil) -> Effects {
    var effects = Effects()
    statistics.enqueued += 1
    guard end == nil else {
      statistics.discarded += 1
      effects.isRefused = end == .finished
      effects.garbage = element
      return effects
    }
    guard waiting.count < capacity else {
      appendToFull(element, sender, &effects)
      return effects
    }
    store(noted(element), &effects)
    return effects
  }

  /// Puts `element` in the place of the one at `position`, if that still waits; otherwise appends
  /// it.
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
    effects.garbage = waiting[position - front].element
    waiting[position - front].element = element
    waiting[position - front].dropped += 1
    return (position, effects)
  }

  /// Appends `elements`, a replay, in front of what waits: they came earlier. An end that has come in
  /// the meantime holds. What waits keeps its position if nothing is lost.
  ///
  /// Where too many are dropped, the limit holds as if they had come earlier. Where the sender waits
  /// or the consumer is disconnected, they do not count: no sender could wait for room for them, and
  /// the consumer had no time to take them.
  mutating func prepend(_ elements: [Envelope]) -> [Effects] {
    switch whenFull {
    case .suspend, .disconnect:
      // More than the limit waits if the hub has finished while senders waited for room.
      capacity = max(limit, waiting.count).addingClamped(elements.count)
    case .dropOldest, .dropNewest: break
    }
    var later = RingBuffer<Item>()
    swap(&later, &waiting)
    let last = front + later.count
    let droppedBehindLater = droppedAtEnd
    droppedAtEnd = 0
    let reached = end
    if end != .cancelled { end = nil }
    var effects = elements.map { append($0) }
    statistics.enqueued -= later.count
    while let item = later.popFirst() {
      droppedAtEnd += item.dropped
      effects.append(append(item.element))
    }
    droppedAtEnd += droppedBehindLater
    end = end ?? reached
    front = last - waiting.count
    return effects
  }

  /// A sender that waits does so no longer; its element is dropped, and noted where it was.
  mutating func cancel(_ sender: SendWaiter) -> Effects {
    var effects = Effects()
    var others = RingBuffer<(item: Item, sender: SendWaiter)>()
    var dropped = 0
    while var other = parked.popFirst() {
      if other.sender === sender {
        statistics.dropped += 1
        dropped = other.item.dropped + 1
        effects.dropped = 1
        effects.garbage = other.item.element
        release(sender, .dropped, &effects)
      } else {
        other.item.dropped += dropped
        dropped = 0
        others.append(other)
      }
    }
    droppedAtEnd += dropped
    parked = others
    return effects
  }

  private mutating func appendToFull(
    _ element: Envelope, _ sender: SendWaiter?, _ effects: inout Effects
  ) {
    switch whenFull {
    case .dropOldest:
      let oldest = waiting.popFirst()!
      front += 1
      store(noted(element), &effects)
      // What was lost lies in front of what is first now.
      waiting[0].dropped += oldest.dropped + 1
      statistics.dropped += 1
      effects.dropped += 1
      effects.garbage = oldest.element
      effects.flushed = takeFlushed()
    case .suspend:
      guard let sender else { return lose(element, &effects) }
      parked.append((noted(element), sender))
      effects.isParked = true
    case .dropNewest:
      lose(element, &effects)
    case .disconnect:
      lose(element, &effects)
      end = .disconnected
      wake(&effects)
    }
  }

  private mutating func lose(_ element: Envelope, _ effects: inout Effects) {
    statistics.dropped += 1
    droppedAtEnd += 1
    effects.dropped += 1
    effects.garbage = element
  }

  /// `element`, and what was lost in front of it.
  private mutating func noted(_ element: Envelope) -> Item {
    defer { droppedAtEnd = 0 }
    return Item(element: element, dropped: droppedAtEnd)
  }

  private mutating func store(_ item: Item, _ effects: inout Effects) {
    waiting.append(item)
    effects.isAccepted = true
    wake(&effects)
  }

  private func release(
    _ sender: SendWaiter, _ outcome: SendWaiter.Outcome, _ effects: inout Effects
  ) {
    sender.outcome = outcome
    effects.released.append(sender)
  }

  private mutating func wake(_ effects: inout Effects) {
    effects.wake = effects.wake || isIdle
    isIdle = false
  }
}

// MARK: - The consumer's side

extension MailboxState {
  /// Whether an element waits.
  var hasWaiting: Bool { !waiting.isEmpty }

  /// Whether the consumer has no element to expect any more.
  var isExhausted: Bool { end != nil && waiting.isEmpty }

  /// The consumer takes at most `share` elements into `batch`, which is empty.
  mutating func take(_ share: Int, into batch: inout RingBuffer<Item>) -> Effects {
    var effects = Effects()
    let count = min(share, waiting.count)
    if count == waiting.count {
      swap(&waiting, &batch)
    } else {
      for _ in 0..<count { batch.append(waiting.popFirst()!) }
    }
    front += count
    inFlight = count
    capacity = max(limit, capacity - count)
    // There is room now for those that wait for it.
    while end == nil, waiting.count < capacity, let next = parked.popFirst() {
      store(next.item, &effects)
      release(next.sender, .accepted, &effects)
    }
    return effects
  }

  /// The consumer is done with what it took. It will be woken if nothing waits; if anything does,
  /// it has to come back.
  ///
  /// - Parameter delivered: how many were delivered; the others were discarded.
  /// - Returns: `wake`: whether it has to come back.
  mutating func finishTaken(delivered: Int) -> Effects {
    var effects = Effects()
    statistics.delivered += delivered
    statistics.discarded += inFlight - delivered
    isIdle = waiting.isEmpty && !lingers(tookSome: inFlight > 0)
    inFlight = 0
    effects.wake = !isIdle
    effects.flushed = takeFlushed()
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

  /// Whether the consumer may go to sleep now: nothing waits, and more may come. It is idle then.
  mutating func sleep() -> Bool {
    guard waiting.isEmpty && end == nil else { return false }
    isIdle = true
    return true
  }

  /// How many were lost behind the last element, if there will be no more; they are reported once.
  mutating func takeDroppedAtEnd() -> Int {
    defer { droppedAtEnd = 0 }
    return droppedAtEnd
  }
}

// MARK: - The end

extension MailboxState {
  /// Nothing more is accepted. What senders wait with was sent before: it joins what waits, beyond
  /// the limit.
  ///
  /// - Returns: the effects, and what is to be destroyed: if the reason is `cancelled`, what waits
  ///   is discarded, and so is what senders wait with.
  mutating func close(_ reason: SubscriptionEnd) -> (
    Effects, discarded: (RingBuffer<Item>, [Envelope])
  ) {
    var effects = Effects()
    var parkedElements: [Envelope] = []
    end = end ?? reason
    while let next = parked.popFirst() {
      if reason == .cancelled {
        statistics.discarded += 1
        parkedElements.append(next.item.element)
        release(next.sender, .discarded, &effects)
      } else {
        store(next.item, &effects)
        release(next.sender, .accepted, &effects)
      }
    }
    var discarded = RingBuffer<Item>()
    if reason == .cancelled {
      swap(&discarded, &waiting)
      front += discarded.count
      statistics.discarded += discarded.count
      if end == .cancelled { droppedAtEnd = 0 }
      effects.flushed = takeFlushed()
    }
    wake(&effects)
    return (effects, (discarded, parkedElements))
  }
}

// MARK: - Flush

extension MailboxState {
  /// Somebody wants to know when everything that is pending now is done.
  ///
  /// - Returns: whether `latch` will be told later; otherwise nothing is pending.
  mutating func flush(_ latch: FlushLatch) -> Bool {
    let position = front + waiting.count
    if isDone(position) { return false }
    flushes.append((position, latch))
    return true
  }

  /// `latch`, which the caller holds, is not to be told any more.
  mutating func withdraw(_ latch: FlushLatch) {
    flushes.removeAll { $0.latch === latch }
  }

  /// Whether everything before `position` was delivered, dropped or discarded.
  private func isDone(_ position: Int) -> Bool {
    inFlight == 0 && front >= position
  }

  private mutating func takeFlushed() -> [FlushLatch] {
    guard !flushes.isEmpty else { return [] }
    // They came in the order of their positions.
    let done = flushes.prefix { isDone($0.position) }
    flushes.removeFirst(done.count)
    return done.map(\.latch)
  }
}

extension Int {
  fileprivate func addingClamped(_ other: Int) -> Int {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}
