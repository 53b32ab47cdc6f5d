/// What a subscriber has read from a log and not handled: the part of its ``LogReader`` that is not
/// generic.
///
/// ## Thread safety
/// One thread at a time: the consumer of the subscriber's mailbox.
@usableFromInline
class LogCursor: @unchecked Sendable {
  // Sendable: see "Thread safety"; what hands the mailbox from thread to thread hands this over
  // too.
  //
  // SAFETY, of unchecked exclusivity: for the same reason no two threads access it at once, and no
  // access runs other code.

  /// That of the hub.
  @usableFromInline final let epoch: UInt64
  /// The number of the last event that was read.
  @exclusivity(unchecked) final var number: UInt64 = 0
  /// What to report before the next event.
  @exclusivity(unchecked) final var missed: MissedEvents?
  /// Events that were read and not yet returned.
  @exclusivity(unchecked) final var batch = RingBuffer<RetainedItem>()

  init(epoch: UInt64) {
    self.epoch = epoch
  }

  /// The most events that a handler reads at once, and gets before others run.
  static var share: Int { 64 }

  final func position(_ number: UInt64) -> EventPosition {
    EventPosition(epoch: epoch, number: number)
  }

  /// The next of the events that were read, unless a range is to be reported before it.
  final func nextItem() -> RetainedItem? {
    missed == nil ? batch.popFirst() : nil
  }

  /// Whether something was read and not returned.
  final var hasRead: Bool { missed != nil || !batch.isEmpty }

  /// The number of events that were read and not returned.
  @usableFromInline
  final var readCount: Int { batch.count }

  /// What is to be reported before the next event, once.
  @usableFromInline
  final func takeMissed() -> MissedEvents? {
    defer { missed = nil }
    return missed
  }

  /// The numbers of the next `count` events that were read.
  ///
  /// - Complexity: O(1), and O(`count`) if they are not consecutive.
  @usableFromInline
  final func numbers(_ count: Int) -> EventNumbers {
    guard count > 0 else { return EventNumbers() }
    let last = batch[count - 1].number
    if last - batch[0].number == UInt64(count - 1) { return EventNumbers(count, through: last) }
    var numbers = EventNumbers()
    for offset in 0..<count { numbers.append(batch[offset].number) }
    return numbers
  }

  /// Moves the next `count` of the events that were read out, in order; fewer if `body` takes some.
  ///
  /// - Parameter body: called with each event and its offset.
  @usableFromInline
  final func moveItems(_ count: Int, _ body: (RetainedItem, Int) -> Void) {
    for offset in 0..<count {
      guard let item = batch.popFirst() else { return }
      body(item, offset)
    }
  }

  /// Does nothing: to cancel the registration of the consumer is enough.
  final func stopReading() {}

  /// Discards what was read and not returned, because the subscription has ended.
  final func discardRead() {
    // Destroys events, whose `deinit` may do anything, so they are no longer in `batch` then.
    var discarded = RingBuffer<RetainedItem>()
    swap(&discarded, &batch)
    missed = nil
  }
}

/// What a subscriber with positions reads next: an event, or a range that it has missed.
enum LogElement {
  case event(RetainedItem)
  case missed(MissedEvents)
}
