import Testing

@testable import Multicast

@Suite("The state machine of a mailbox, state by state and input by input")
struct MailboxStateTests {
  private final class Element: Sendable {
    let value: Int
    init(_ value: Int) { self.value = value }
  }

  /// `#expect` cannot call a mutating function.
  private func check(_ condition: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(condition, sourceLocation: sourceLocation)
  }

  private func envelope(_ value: Int) -> Envelope { Envelope(Element(value)) }

  private func value(_ envelope: Envelope?) -> Int? { (envelope?.box as? Element)?.value }

  private func values(_ items: borrowing ItemBuffer) -> [Int] {
    (0..<items.count).map { value(items[$0].element)! }
  }

  private func dropped(_ items: borrowing ItemBuffer) -> [Int] {
    (0..<items.count).map { items[$0].dropped }
  }

  /// A state with this limit that holds `0..<count`.
  private func state(
    _ whenFull: OverflowPolicy, limit: Int = 2, holding count: Int = 0
  ) -> MailboxState {
    var state = MailboxState(limit: limit, whenFull: whenFull, isIdle: true)
    for value in 0..<count { _ = state.append(envelope(value)) }
    return state
  }

  private func close(
    _ state: inout MailboxState, _ reason: SubscriptionEnd
  ) -> (effects: MailboxState.Effects, discarded: Int) {
    var discarded = ItemBuffer()
    let effects = state.close(reason, discarded: &discarded)
    return (effects, discarded.count)
  }

  private func takeAll(_ state: inout MailboxState) -> [Int] {
    var batch = ItemBuffer()
    _ = state.take(.max, into: &batch)
    return values(batch)
  }

  // MARK: Append

  @Test("idle × append: wakes once", arguments: OverflowPolicy.allCases)
  func wakesOnce(_ whenFull: OverflowPolicy) {
    var state = state(whenFull)
    let first = state.append(envelope(0))
    #expect(first.wake && first.isAccepted && first.dropped == 0)
    let second = state.append(envelope(1))
    #expect(!second.wake && second.isAccepted)
  }

  @Test("full × append")
  func full() {
    for (whenFull, kept, dropped) in [
      (OverflowPolicy.dropOldest, [1, 2], 0), (.dropNewest, [0, 1], 2), (.suspend, [0, 1], 2),
      (.disconnect, [0, 1], 2),
    ] {
      var state = state(whenFull, holding: 2)
      let effects = state.append(envelope(2))
      #expect(effects.dropped == 1)
      #expect(value(effects.garbage) == dropped)
      #expect(effects.isAccepted == (whenFull == .dropOldest))
      #expect(!effects.isParked)
      #expect(state.statistics.dropped == 1)
      #expect((state.end == .disconnected) == (whenFull == .disconnect))
      check(takeAll(&state) == kept)
    }
  }

  @Test("full × append by a sender that can wait", arguments: OverflowPolicy.allCases)
  func fullWithSender(_ whenFull: OverflowPolicy) {
    var state = state(whenFull, holding: 2)
    let sender = SendWaiter()
    let effects = state.append(envelope(2), sender: sender)
    #expect(effects.isParked == (whenFull == .suspend))
    guard whenFull == .suspend else { return }
    #expect(effects.dropped == 0 && effects.garbage == nil)
    // It is appended as soon as there is space, before a later one.
    var batch = ItemBuffer()
    let taken = state.take(1, into: &batch)
    #expect(values(batch) == [0])
    #expect(taken.released.count == 1 && taken.released[0] === sender && sender.isReleased)
    check(takeAll(&state) == [1, 2])
  }

  @Test("parked × cancel: the element is dropped, and counted")
  func cancelParked() {
    var state = state(.suspend, holding: 2)
    let first = SendWaiter()
    let second = SendWaiter()
    _ = state.append(envelope(2), sender: first)
    _ = state.append(envelope(3), sender: second)
    let effects = state.cancel(first)
    #expect(effects.released.count == 1 && effects.released[0] === first)
    #expect(effects.dropped == 1 && value(effects.garbage) == 2)
    check(state.cancel(first).released.isEmpty)
    check(takeAll(&state) == [0, 1])
    check(takeAll(&state) == [3])
  }

  // MARK: Take and finish

  @Test("busy × finish: drains again while something waits, then is idle")
  func finish() {
    var state = state(.dropNewest, limit: 10, holding: 3)
    var batch = ItemBuffer()
    _ = state.take(2, into: &batch)
    #expect(values(batch) == [0, 1])
    check(state.finishTaken(delivered: 1).wake)
    #expect(state.statistics.delivered == 1 && state.statistics.discarded == 1)
    check(takeAll(&state) == [2])
    check(!state.finishTaken(delivered: 1).wake)
    check(state.append(envelope(4)).wake)
  }

  @Test("one that may linger comes back once, and not so soon again if that was in vain")
  func linger() {
    var state = MailboxState(limit: 10, whenFull: .dropNewest, isIdle: true, mayLinger: true)
    check(state.append(envelope(0)).wake)
    check(takeAll(&state) == [0])
    check(state.finishTaken(delivered: 1).wake)
    check(!state.append(envelope(1)).wake)
    check(takeAll(&state) == [1])
    check(state.finishTaken(delivered: 1).wake)
    check(takeAll(&state) == [])
    check(!state.finishTaken(delivered: 0).wake)
    check(state.append(envelope(2)).wake)
    check(takeAll(&state) == [2])
    check(!state.finishTaken(delivered: 1).wake)
  }

  @Test("sleep: only if nothing waits and more may come")
  func sleep() {
    var state = state(.dropNewest, holding: 1)
    check(!state.sleep())
    check(takeAll(&state) == [0])
    check(state.sleep())
    check(state.append(envelope(1)).wake)
    check(takeAll(&state) == [1])
    _ = close(&state, .finished)
    check(!state.sleep())
  }

  // MARK: The end

  @Test("every state × close × append", arguments: SubscriptionEnd.allCases, [0, 2])
  func close(_ reason: SubscriptionEnd, _ count: Int) {
    for whenFull in OverflowPolicy.allCases {
      var state = state(whenFull, holding: count)
      let (effects, discarded) = close(&state, reason)
      #expect(effects.wake == (count == 0))  // Otherwise it is awake already.
      #expect(discarded == (reason == .cancelled ? count : 0))
      #expect(state.end == reason)
      let refused = state.append(envelope(9))
      #expect(!refused.isAccepted && value(refused.garbage) == 9 && !refused.wake)
      check(takeAll(&state) == (reason == .cancelled ? [] : Array(0..<count)))
      check(state.isExhausted)
      // Cancelling ends what is left; nothing else changes the reason.
      _ = close(&state, .finished)
      #expect(state.end == reason)
    }
  }

  @Test(
    "parked × close: the senders are released, and their elements wait, or are discarded if cancelled",
    arguments: SubscriptionEnd.allCases)
  func closeParked(_ reason: SubscriptionEnd) {
    var state = state(.suspend, holding: 2)
    let senders = [SendWaiter(), SendWaiter()]
    for (index, sender) in senders.enumerated() {
      _ = state.append(envelope(2 + index), sender: sender)
    }
    let (effects, discarded) = close(&state, reason)
    #expect(effects.released.count == 2 && effects.dropped == 0)
    let isCancelled = reason == .cancelled
    for sender in senders { #expect(sender.outcome == (isCancelled ? .discarded : .accepted)) }
    #expect(discarded == (isCancelled ? 4 : 0))
    #expect(state.statistics.discarded == (isCancelled ? 4 : 0))
    #expect(state.statistics.pending == (isCancelled ? 0 : 4))
    check(takeAll(&state) == (isCancelled ? [] : [0, 1, 2, 3]))
  }

  @Test("parked × cancel, and × dropped: noted where it was dropped, also if the hub finishes")
  func notesAmongParked() {
    var state = state(.suspend, holding: 2)
    let senders = (0..<3).map { _ in SendWaiter() }
    for (index, sender) in senders.enumerated() {
      _ = state.append(envelope(10 + index), sender: sender)
      _ = state.append(envelope(-1))  // Its sender cannot wait.
    }
    _ = state.cancel(senders[1])
    #expect(senders[1].outcome == .dropped)
    _ = close(&state, .finished)
    var batch = ItemBuffer()
    _ = state.take(.max, into: &batch)
    #expect(values(batch) == [0, 1, 10, 12])
    #expect(dropped(batch) == [0, 0, 0, 3])
    check(state.takeDroppedAtEnd() == 1)
    #expect(state.statistics.dropped == 4)
  }

  // MARK: What was dropped

  @Test("what is dropped is noted where it was dropped")
  func notesWhatIsLost() {
    var oldest = state(.dropOldest, holding: 5)
    var batch = ItemBuffer()
    _ = oldest.take(.max, into: &batch)
    #expect(values(batch) == [3, 4])
    #expect(dropped(batch) == [3, 0])

    var newest = state(.dropNewest, holding: 4)
    batch = ItemBuffer()
    _ = newest.take(.max, into: &batch)
    #expect(dropped(batch) == [0, 0])
    _ = newest.append(envelope(9))
    batch = ItemBuffer()
    _ = newest.take(.max, into: &batch)
    #expect(values(batch) == [9] && dropped(batch) == [2])
    check(newest.takeDroppedAtEnd() == 0)
  }

  @Test("limit 1: the note of an element that is dropped itself is kept")
  func droppedWithLimitOne() {
    var state = state(.dropOldest, limit: 1, holding: 4)
    var batch = ItemBuffer()
    _ = state.take(.max, into: &batch)
    #expect(values(batch) == [3] && dropped(batch) == [3])
  }

  // MARK: Replace and prepend

  @Test("replace: in place while it waits, otherwise at the end")
  func replace() {
    var state = state(.dropNewest, limit: .max)
    let (first, _) = state.replace(nil, with: envelope(0))
    let (second, _) = state.replace(nil, with: envelope(1))
    let (again, effects) = state.replace(first, with: envelope(10))
    #expect(again == first && value(effects.garbage) == 0 && effects.dropped == 1)
    check(takeAll(&state) == [10, 1])
    let (third, _) = state.replace(second, with: envelope(11))
    #expect(third != second)
    check(takeAll(&state) == [11])
  }

  @Test("prepend: in front of what waits, within the limit")
  func prepend() {
    var unbounded = state(.dropNewest, limit: .max, holding: 2)
    _ = unbounded.prepend([envelope(-2), envelope(-1)])
    check(takeAll(&unbounded) == [-2, -1, 0, 1])
    #expect(unbounded.statistics.enqueued == 4)

    var bounded = state(.dropOldest, limit: 2, holding: 1)
    _ = bounded.prepend([envelope(-2), envelope(-1)])
    check(takeAll(&bounded) == [-1, 0])
  }

  @Test("prepend × finish: what senders waited with is kept, beyond the limit")
  func prependBeforeParked() {
    var state = state(.suspend, holding: 2)
    let senders = (0..<3).map { _ in SendWaiter() }
    for (index, sender) in senders.enumerated() {
      _ = state.append(envelope(2 + index), sender: sender)
    }
    _ = close(&state, .finished)
    let effects = state.prepend([envelope(-2), envelope(-1)])
    #expect(effects.allSatisfy { $0.dropped == 0 })
    check(takeAll(&state) == Array(-2...4))
    #expect(state.statistics.dropped == 0)
  }

  // MARK: Flush

  @Test("put back: a flush waits for it, also if what came behind it was dropped")
  func flushOfWhatIsPutBack() {
    var state = state(.dropOldest, limit: 4, holding: 4)
    var batch = ItemBuffer()
    check(state.take(.max, into: &batch).flushed.isEmpty)
    check(state.flush(FlushLatch()))
    for value in 4..<9 { check(state.append(envelope(value)).flushed.isEmpty) }  // 4 is dropped.
    _ = batch.popFirst()
    state.putBack(&batch)
    check(state.finishTaken(delivered: 1).flushed.isEmpty)
    for value in 1...3 {
      var next = ItemBuffer()
      _ = state.take(1, into: &next)
      check(values(next) == [value])
      check(state.finishTaken(delivered: 1).flushed.count == (value == 3 ? 1 : 0))
    }
  }

  @Test("prepend: a flush that waits is told when its elements are done, and not before")
  func flushBesidePrepend() {
    for whenFull in [OverflowPolicy.dropOldest, .dropNewest, .suspend, .disconnect] {
      var state = state(whenFull, limit: 1, holding: 1)
      check(state.flush(FlushLatch()))
      let effects = state.prepend([envelope(-1)])
      // With `dropNewest`, the replay has taken the place of the element.
      check(effects.allSatisfy { $0.flushed.isEmpty })
      var batch = ItemBuffer()
      check(state.take(.max, into: &batch).flushed.isEmpty)
      check(state.finishTaken(delivered: batch.count).flushed.count == 1)
    }
    var state = state(.dropNewest, limit: 2, holding: 1)
    check(state.flush(FlushLatch()))  // Of 0, which then is the second one.
    _ = state.append(envelope(1))
    check(state.prepend([envelope(-1)]).allSatisfy { $0.flushed.isEmpty })
    check(state.flush(FlushLatch()))
    var first = ItemBuffer()
    _ = state.take(1, into: &first)
    check(values(first) == [-1])
    check(state.finishTaken(delivered: 1).flushed.isEmpty)
    var second = ItemBuffer()
    _ = state.take(1, into: &second)
    check(values(second) == [0])
    check(state.finishTaken(delivered: 1).flushed.count == 2)
  }

  @Test("prepend: a flush waits for the element of a sender that waits for space")
  func flushOfParkedBesidePrepend() {
    var state = state(.suspend, limit: 1, holding: 1)
    check(state.append(envelope(1), sender: SendWaiter()).isParked)
    check(state.flush(FlushLatch()))
    check(state.prepend([envelope(-1)]).allSatisfy { $0.flushed.isEmpty })
    check(takeAll(&state) == [-1, 0])
    check(state.finishTaken(delivered: 2).flushed.isEmpty)
    check(takeAll(&state) == [1])
    check(state.finishTaken(delivered: 1).flushed.count == 1)
  }

  @Test("reserved: a flush waits for the element of a sender that waits behind reserved space")
  func flushOfParkedBehindReserved() {
    var state = state(.suspend, limit: 2, holding: 1)
    check(state.reserve(beside: 0) == .reserved)
    check(state.append(envelope(2), sender: SendWaiter()).isParked)
    check(state.flush(FlushLatch()))
    check(state.commit(envelope(1)).isAccepted)
    check(takeAll(&state) == [0, 1])
    check(state.finishTaken(delivered: 2).flushed.isEmpty)
    check(takeAll(&state) == [2])
    check(state.finishTaken(delivered: 1).flushed.count == 1)
  }

  @Test("flush: told when what was pending is done, and not before")
  func flush() {
    var state = state(.dropOldest, holding: 2)
    check(state.flush(FlushLatch()))
    var batch = ItemBuffer()
    check(state.take(.max, into: &batch).flushed.isEmpty)
    _ = state.append(envelope(5))
    check(state.finishTaken(delivered: 2).flushed.count == 1)
    check(state.flush(FlushLatch()))
    check(state.append(envelope(6)).flushed.isEmpty)
    check(state.append(envelope(7)).flushed.count == 1)  // 5 was dropped.
    check(state.flush(FlushLatch()))
    check(close(&state, .cancelled).effects.flushed.count == 1)
    check(!state.flush(FlushLatch()))
  }

  @Test("the statistics add up after every input")
  func statisticsAddUp() {
    var generator = SystemRandomNumberGenerator()
    for whenFull in OverflowPolicy.allCases {
      var state = MailboxState(limit: 3, whenFull: whenFull, isIdle: true)
      var waiting = 0
      var taken = 0
      for step in 0..<2000 {
        switch Int.random(in: 0..<4, using: &generator) {
        case 0, 1:
          _ = state.append(envelope(step))
        case 2:
          if taken == 0 {
            var batch = ItemBuffer()
            _ = state.take(Int.random(in: 1...3), into: &batch)
            taken = batch.count
          }
        default:
          _ = state.finishTaken(delivered: taken)
          taken = 0
        }
        waiting = state.statistics.pending - taken
        #expect(waiting >= 0 && waiting <= 3)
      }
      _ = state.finishTaken(delivered: taken)
      _ = close(&state, .cancelled)
      #expect(state.statistics.pending == 0)
    }
  }
}
