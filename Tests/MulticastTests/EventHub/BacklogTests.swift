import Testing

@testable import Multicast

@Suite("The state machine of a mailbox, state by state and input by input")
struct BacklogTests {
  private final class Element: Sendable {
    let value: Int
    init(_ value: Int) { self.value = value }
  }

  /// `#expect` cannot call a mutating function.
  private func check(_ condition: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(condition, sourceLocation: sourceLocation)
  }

  private func parcel(_ value: Int) -> Parcel { Parcel(Element(value)) }

  private func value(_ parcel: Parcel?) -> Int? { (parcel?.box as? Element)?.value }

  private func values(_ items: RingBuffer<Backlog.Item>) -> [Int] {
    (0..<items.count).map { value(items[$0].element)! }
  }

  private func missed(_ items: RingBuffer<Backlog.Item>) -> [Int] {
    (0..<items.count).map { items[$0].missed }
  }

  /// A backlog with this limit that holds `0..<count`.
  private func backlog(
    _ whenFull: OverflowPolicy, limit: Int = 2, holding count: Int = 0
  ) -> Backlog {
    var backlog = Backlog(limit: limit, whenFull: whenFull, isIdle: true)
    for value in 0..<count { _ = backlog.append(parcel(value)) }
    return backlog
  }

  private func takeAll(_ backlog: inout Backlog) -> [Int] {
    var batch = RingBuffer<Backlog.Item>()
    _ = backlog.take(.max, into: &batch)
    return values(batch)
  }

  // MARK: Append

  @Test("idle × append: wakes once", arguments: OverflowPolicy.allCases)
  func wakesOnce(_ whenFull: OverflowPolicy) {
    var backlog = backlog(whenFull)
    let first = backlog.append(parcel(0))
    #expect(first.wake && first.isAccepted && first.lost == 0)
    let second = backlog.append(parcel(1))
    #expect(!second.wake && second.isAccepted)
  }

  @Test("full × append")
  func full() {
    for (whenFull, kept, dropped) in [
      (OverflowPolicy.dropOldest, [1, 2], 0), (.dropNewest, [0, 1], 2), (.suspend, [0, 1], 2),
      (.disconnect, [0, 1], 2),
    ] {
      var backlog = backlog(whenFull, holding: 2)
      let effects = backlog.append(parcel(2))
      #expect(effects.lost == 1)
      #expect(value(effects.dropped) == dropped)
      #expect(effects.isAccepted == (whenFull == .dropOldest))
      #expect(!effects.isParked)
      #expect(backlog.statistics.dropped == 1)
      #expect((backlog.end == .disconnected) == (whenFull == .disconnect))
      check(takeAll(&backlog) == kept)
    }
  }

  @Test("full × append by a sender that can wait", arguments: OverflowPolicy.allCases)
  func fullWithSender(_ whenFull: OverflowPolicy) {
    var backlog = backlog(whenFull, holding: 2)
    let sender = SendWaiter()
    let effects = backlog.append(parcel(2), sender: sender)
    #expect(effects.isParked == (whenFull == .suspend))
    guard whenFull == .suspend else { return }
    #expect(effects.lost == 0 && effects.dropped == nil)
    // It comes in as soon as there is room, in front of a later one.
    var batch = RingBuffer<Backlog.Item>()
    let taken = backlog.take(1, into: &batch)
    #expect(values(batch) == [0])
    #expect(taken.released.count == 1 && taken.released[0] === sender && sender.isReleased)
    check(takeAll(&backlog) == [1, 2])
  }

  @Test("parked × cancel: the element is dropped, and counted")
  func cancelParked() {
    var backlog = backlog(.suspend, holding: 2)
    let first = SendWaiter()
    let second = SendWaiter()
    _ = backlog.append(parcel(2), sender: first)
    _ = backlog.append(parcel(3), sender: second)
    let effects = backlog.cancel(first)
    #expect(effects.released.count == 1 && effects.released[0] === first)
    #expect(effects.lost == 1 && value(effects.dropped) == 2)
    check(backlog.cancel(first).released.isEmpty)
    check(takeAll(&backlog) == [0, 1])
    check(takeAll(&backlog) == [3])
  }

  // MARK: Take and finish

  @Test("busy × finish: comes back as long as something waits, then is idle")
  func finish() {
    var backlog = backlog(.dropNewest, limit: 10, holding: 3)
    var batch = RingBuffer<Backlog.Item>()
    _ = backlog.take(2, into: &batch)
    #expect(values(batch) == [0, 1])
    check(backlog.finishTaken(delivered: 1).wake)
    #expect(backlog.statistics.delivered == 1 && backlog.statistics.discarded == 1)
    check(takeAll(&backlog) == [2])
    check(!backlog.finishTaken(delivered: 1).wake)
    check(backlog.append(parcel(4)).wake)
  }

  @Test("one that may linger comes back once, and not so soon again if that was in vain")
  func linger() {
    var backlog = Backlog(limit: 10, whenFull: .dropNewest, isIdle: true, mayLinger: true)
    check(backlog.append(parcel(0)).wake)
    check(takeAll(&backlog) == [0])
    check(backlog.finishTaken(delivered: 1).wake)
    check(!backlog.append(parcel(1)).wake)
    check(takeAll(&backlog) == [1])
    check(backlog.finishTaken(delivered: 1).wake)
    check(takeAll(&backlog) == [])
    check(!backlog.finishTaken(delivered: 0).wake)
    check(backlog.append(parcel(2)).wake)
    check(takeAll(&backlog) == [2])
    check(!backlog.finishTaken(delivered: 1).wake)
  }

  @Test("sleep: only if nothing waits and more may come")
  func sleep() {
    var backlog = backlog(.dropNewest, holding: 1)
    check(!backlog.sleep())
    check(takeAll(&backlog) == [0])
    check(backlog.sleep())
    check(backlog.append(parcel(1)).wake)
    check(takeAll(&backlog) == [1])
    _ = backlog.close(.finished)
    check(!backlog.sleep())
  }

  // MARK: The end

  @Test("every state × close × append", arguments: SubscriptionEnd.allCases, [0, 2])
  func close(_ reason: SubscriptionEnd, _ count: Int) {
    for whenFull in OverflowPolicy.allCases {
      var backlog = backlog(whenFull, holding: count)
      let (effects, discarded) = backlog.close(reason)
      #expect(effects.wake == (count == 0))  // Otherwise it is coming anyway.
      #expect(discarded.0.count == (reason == .cancelled ? count : 0))
      #expect(backlog.end == reason)
      let refused = backlog.append(parcel(9))
      #expect(!refused.isAccepted && value(refused.dropped) == 9 && !refused.wake)
      check(takeAll(&backlog) == (reason == .cancelled ? [] : Array(0..<count)))
      #expect(backlog.isExhausted)
      // Cancelling ends what is left; nothing else changes the reason.
      _ = backlog.close(.finished)
      #expect(backlog.end == reason)
    }
  }

  @Test(
    "parked × close: the senders are released, and their elements wait, or are discarded if cancelled",
    arguments: SubscriptionEnd.allCases)
  func closeParked(_ reason: SubscriptionEnd) {
    var backlog = backlog(.suspend, holding: 2)
    let senders = [SendWaiter(), SendWaiter()]
    for (index, sender) in senders.enumerated() {
      _ = backlog.append(parcel(2 + index), sender: sender)
    }
    let (effects, discarded) = backlog.close(reason)
    #expect(effects.released.count == 2 && effects.lost == 0)
    let isCancelled = reason == .cancelled
    for sender in senders { #expect(sender.outcome == (isCancelled ? .discarded : .accepted)) }
    #expect(discarded.1.count == (isCancelled ? 2 : 0))
    #expect(backlog.statistics.discarded == (isCancelled ? 4 : 0))
    #expect(backlog.statistics.pending == (isCancelled ? 0 : 4))
    check(takeAll(&backlog) == (isCancelled ? [] : [0, 1, 2, 3]))
  }

  @Test("parked × cancel, and × lost: noted where it was lost, also if the hub finishes")
  func notesAmongParked() {
    var backlog = backlog(.suspend, holding: 2)
    let senders = (0..<3).map { _ in SendWaiter() }
    for (index, sender) in senders.enumerated() {
      _ = backlog.append(parcel(10 + index), sender: sender)
      _ = backlog.append(parcel(-1))  // Its sender cannot wait.
    }
    _ = backlog.cancel(senders[1])
    #expect(senders[1].outcome == .dropped)
    _ = backlog.close(.finished)
    var batch = RingBuffer<Backlog.Item>()
    _ = backlog.take(.max, into: &batch)
    #expect(values(batch) == [0, 1, 10, 12])
    #expect(missed(batch) == [0, 0, 0, 3])
    check(backlog.takeMissedAtEnd() == 1)
    #expect(backlog.statistics.dropped == 4)
  }

  // MARK: What was missed

  @Test("what is lost is noted where it was lost")
  func notesWhatIsLost() {
    var oldest = backlog(.dropOldest, holding: 5)
    var batch = RingBuffer<Backlog.Item>()
    _ = oldest.take(.max, into: &batch)
    #expect(values(batch) == [3, 4])
    #expect(missed(batch) == [3, 0])

    var newest = backlog(.dropNewest, holding: 4)
    batch = RingBuffer()
    _ = newest.take(.max, into: &batch)
    #expect(missed(batch) == [0, 0])
    _ = newest.append(parcel(9))
    batch = RingBuffer()
    _ = newest.take(.max, into: &batch)
    #expect(values(batch) == [9] && missed(batch) == [2])
    check(newest.takeMissedAtEnd() == 0)
  }

  @Test("limit 1: a dropped element's own note is not forgotten")
  func missedWithLimitOne() {
    var backlog = backlog(.dropOldest, limit: 1, holding: 4)
    var batch = RingBuffer<Backlog.Item>()
    _ = backlog.take(.max, into: &batch)
    #expect(values(batch) == [3] && missed(batch) == [3])
  }

  // MARK: Replace and prepend

  @Test("replace: in place while it waits, otherwise at the end")
  func replace() {
    var backlog = backlog(.dropNewest, limit: .max)
    let (first, _) = backlog.replace(nil, with: parcel(0))
    let (second, _) = backlog.replace(nil, with: parcel(1))
    let (again, effects) = backlog.replace(first, with: parcel(10))
    #expect(again == first && value(effects.dropped) == 0 && effects.lost == 1)
    check(takeAll(&backlog) == [10, 1])
    let (third, _) = backlog.replace(second, with: parcel(11))
    #expect(third != second)
    check(takeAll(&backlog) == [11])
  }

  @Test("prepend: in front of what waits, within the limit")
  func prepend() {
    var unbounded = backlog(.dropNewest, limit: .max, holding: 2)
    _ = unbounded.prepend([parcel(-2), parcel(-1)])
    check(takeAll(&unbounded) == [-2, -1, 0, 1])
    #expect(unbounded.statistics.enqueued == 4)

    var bounded = backlog(.dropOldest, limit: 2, holding: 1)
    _ = bounded.prepend([parcel(-2), parcel(-1)])
    check(takeAll(&bounded) == [-1, 0])
  }

  // MARK: Flush

  @Test("flush: told when what was pending is done, and not before")
  func flush() {
    var backlog = backlog(.dropOldest, holding: 2)
    check(backlog.flush(FlushLatch()))
    var batch = RingBuffer<Backlog.Item>()
    check(backlog.take(.max, into: &batch).flushed.isEmpty)
    _ = backlog.append(parcel(5))
    check(backlog.finishTaken(delivered: 2).flushed.count == 1)
    check(backlog.flush(FlushLatch()))
    check(backlog.append(parcel(6)).flushed.isEmpty)
    check(backlog.append(parcel(7)).flushed.count == 1)  // 5 was dropped.
    check(backlog.flush(FlushLatch()))
    check(backlog.close(.cancelled).0.flushed.count == 1)
    check(!backlog.flush(FlushLatch()))
  }

  @Test("the statistics add up after every input")
  func statisticsAddUp() {
    var generator = SystemRandomNumberGenerator()
    for whenFull in OverflowPolicy.allCases {
      var backlog = Backlog(limit: 3, whenFull: whenFull, isIdle: true)
      var waiting = 0
      var taken = 0
      for step in 0..<2000 {
        switch Int.random(in: 0..<4, using: &generator) {
        case 0, 1:
          _ = backlog.append(parcel(step))
        case 2:
          if taken == 0 {
            var batch = RingBuffer<Backlog.Item>()
            _ = backlog.take(Int.random(in: 1...3), into: &batch)
            taken = batch.count
          }
        default:
          _ = backlog.finishTaken(delivered: taken)
          taken = 0
        }
        waiting = backlog.statistics.pending - taken
        #expect(waiting >= 0 && waiting <= 3)
      }
      _ = backlog.finishTaken(delivered: taken)
      _ = backlog.close(.cancelled)
      #expect(backlog.statistics.pending == 0)
    }
  }
}
