import Testing

@testable import MulticastStress

/// What the oracle of the churn scenario accepts, and what it refuses.
@Suite struct ChurnHistoryTests {
  private typealias Registration = ChurnHistory.Registration
  private typealias Invocation = ChurnHistory.Invocation

  private func violation(
    _ registrations: [ChurnHistory.Registration], _ invocation: ChurnHistory.Invocation
  ) -> String? {
    ChurnHistory(registrations: registrations, invocations: [invocation]).violation()
  }

  @Test func whoIsThereThroughoutIsCalledOnce() {
    let there = Registration(addBegan: 1, addReturned: 2)
    func invocation(_ calls: [Int]) -> Invocation { Invocation(began: 3, ended: 9, calls: calls) }
    #expect(violation([there], invocation([0])) == nil)
    #expect(violation([there], invocation([])) != nil)
    #expect(violation([there], invocation([0, 0])) != nil)
    #expect(violation([there], invocation([0, 1])) != nil)
  }

  @Test func whoComesDuringAnInvocationMayBeCalledOnlyIfItWasThereBeforeTheFirstCall() {
    let first = Registration(addBegan: 1, addReturned: 2)
    let during = Registration(addBegan: 4, addReturned: 6)
    let late = Registration(addBegan: 7, addReturned: 8)
    let invocation = Invocation(began: 3, ended: 9, calls: [0, 1], times: [5, 8])
    #expect(violation([first, during], invocation) == nil)
    #expect(violation([first, late], invocation) != nil)
    #expect(
      violation([first, during], Invocation(began: 3, ended: 9, calls: [0], times: [5])) == nil)
  }

  @Test func whoIsRemovedBeforeItsTurnIsNotCalled() {
    let there = Registration(addBegan: 1, addReturned: 2)
    var removed = Registration(addBegan: 1, addReturned: 2, removeBegan: 4, removeReturned: 5)
    // The check of the second is made after the call of the first.
    let early = Invocation(began: 3, ended: 9, calls: [0, 1], times: [4, 8])
    let late = Invocation(began: 3, ended: 9, calls: [0, 1], times: [6, 8])
    #expect(violation([there, removed], early) == nil)
    #expect(violation([there, removed], late) != nil)
    #expect(violation([removed, there], Invocation(began: 6, ended: 9, calls: [0, 1])) != nil)
    removed.waited = true
    #expect(violation([there, removed], early) != nil)
  }

  @Test func whoIsDeadIsNotCalled() {
    let dead = Registration(addBegan: 1, addReturned: 2, releaseBegan: 3, died: 4)
    #expect(violation([dead], Invocation(began: 5, ended: 9, calls: [0])) != nil)
    #expect(violation([dead], Invocation(began: 5, ended: 9)) == nil)
    // Released in the meantime: either is allowed.
    let dying = Registration(addBegan: 1, addReturned: 2, releaseBegan: 6, died: 7)
    #expect(violation([dying], Invocation(began: 5, ended: 9, calls: [0])) == nil)
    #expect(violation([dying], Invocation(began: 5, ended: 9)) == nil)
  }

  @Test func callsComeInTheOrderOfTheAdditions() {
    let first = Registration(addBegan: 1, addReturned: 2)
    let second = Registration(addBegan: 3, addReturned: 4)
    let overlapping = Registration(addBegan: 1, addReturned: 4)
    #expect(violation([first, second], Invocation(began: 5, ended: 9, calls: [0, 1])) == nil)
    #expect(violation([first, second], Invocation(began: 5, ended: 9, calls: [1, 0])) != nil)
    #expect(
      violation([overlapping, second], Invocation(began: 5, ended: 9, calls: [1, 0])) == nil)
  }
}
