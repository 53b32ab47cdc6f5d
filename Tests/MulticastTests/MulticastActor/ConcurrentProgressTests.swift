import Testing

@testable import Multicast

/// A progress in a reference, since an expectation does not change a value.
private final class Progress {
  private var state: ConcurrentProgress

  init(count: Int, limit: Int, isOver: Bool) {
    state = ConcurrentProgress(count: count, limit: limit, isOver: isOver)
  }

  var running: Int { state.running }
  func begin() -> Int? { state.begin() }
  func end() -> ConcurrentProgress.Phase { state.end() }
  func stop(_ reason: ConcurrentProgress.Phase) -> Bool { state.stop(reason) }
  func passLate() -> Int? { state.passLate() }
}

@Suite("The progress of a concurrent invocation")
struct ConcurrentProgressTests {
  @Test("at most the limit runs at once, and each begins once, in order")
  func limit() {
    let progress = Progress(count: 5, limit: 2, isOver: false)
    #expect(progress.begin() == 0)
    #expect(progress.begin() == 1)
    #expect(progress.begin() == nil)
    for index in 2..<5 {
      #expect(progress.end() == .calling)
      #expect(progress.begin() == index)
      #expect(progress.begin() == nil)
    }
    #expect(progress.end() == .calling)
    #expect(progress.end() == .calling)
    #expect(progress.running == 0)
    #expect(progress.begin() == nil)
    #expect(progress.passLate() == nil)
  }

  @Test("when the time is over none begins, and those that have not begun are late")
  func timeIsOver() {
    let progress = Progress(count: 4, limit: 2, isOver: false)
    #expect(progress.begin() == 0)
    #expect(progress.begin() == 1)
    #expect(progress.stop(.timeIsOver))
    #expect(progress.end() == .timeIsOver)
    #expect(progress.begin() == nil)
    #expect(progress.end() == .timeIsOver)
    #expect(progress.passLate() == 2)
    #expect(progress.passLate() == 3)
    #expect(progress.passLate() == nil)
  }

  @Test("when it is decided none begins and none is late, also if the time is over then")
  func decided() {
    let progress = Progress(count: 3, limit: 1, isOver: false)
    #expect(progress.begin() == 0)
    #expect(progress.stop(.decided))
    #expect(!progress.stop(.timeIsOver))
    #expect(progress.end() == .decided)
    #expect(progress.begin() == nil)
    #expect(progress.passLate() == nil)
  }

  @Test("when the time is over, a decision comes too late")
  func decidedTooLate() {
    let progress = Progress(count: 1, limit: 1, isOver: false)
    #expect(progress.begin() == 0)
    #expect(progress.stop(.timeIsOver))
    #expect(!progress.stop(.decided))
    #expect(progress.end() == .timeIsOver)
  }

  @Test("one that is over at once begins none, and all are late")
  func overAtOnce() {
    let progress = Progress(count: 2, limit: .max, isOver: true)
    #expect(progress.begin() == nil)
    #expect(progress.running == 0)
    #expect(progress.passLate() == 0)
    #expect(progress.passLate() == 1)
    #expect(progress.passLate() == nil)
  }
}
