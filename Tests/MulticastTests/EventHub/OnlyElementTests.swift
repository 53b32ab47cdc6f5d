import Testing

@testable import Multicast

@Suite("The state machine of a mailbox: the only element, without the steps of a batch")
struct OnlyElementTests {
  /// `#expect` cannot call a mutating function.
  private func check(_ condition: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(condition, sourceLocation: sourceLocation)
  }

  /// A busy state that holds `count` elements.
  private func state(holding count: Int) -> MailboxState {
    var state = MailboxState(limit: .max, whenFull: .dropNewest, isIdle: false)
    for value in 0..<count { _ = state.append(Envelope(word: UInt64(value))) }
    return state
  }

  @Test("taken only if no other waits, it is not blocked, and no flush waits")
  func taken() {
    var state = state(holding: 2)
    check(state.takeOnly() == nil)
    var batch = ItemBuffer()
    _ = state.beginBatch(1, into: &batch)
    _ = state.endBatch(delivered: 1)
    _ = state.setBlocked(true)
    check(state.takeOnly() == nil)
    _ = state.setBlocked(false)
    check(state.takeOnly()?.word == 1)
    check(state.takeOnly() == nil)
    check(state.finishOnly())
    #expect(state.statistics.delivered == 2 && state.statistics.pending == 0)

    _ = state.append(Envelope(word: 2))
    check(state.flush(FlushLatch()))
    check(state.takeOnly() == nil)
  }

  @Test("finished as a batch if something follows it: an element, an end, a flush")
  func finished() {
    var state = state(holding: 1)
    check(state.takeOnly()?.word == 0)
    _ = state.append(Envelope(word: 1))
    check(!state.finishOnly())
    check(state.endBatch(delivered: 1).mustContinue)

    check(state.takeOnly()?.word == 1)
    check(state.flush(FlushLatch()))
    check(!state.finishOnly())
    let (mustContinue, effects) = state.endBatch(delivered: 1)
    #expect(!mustContinue && effects?.flushed.count == 1)

    _ = state.append(Envelope(word: 2))
    check(state.takeOnly()?.word == 2)
    var discarded = ItemBuffer()
    _ = state.close(.finished, discarded: &discarded)
    check(!state.finishOnly())
    _ = state.endBatch(delivered: 1)
    #expect(state.isExhausted && state.statistics.delivered == 3)
  }
}
