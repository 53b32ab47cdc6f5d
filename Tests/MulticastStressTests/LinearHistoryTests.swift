import ConcurrencyStress
import Testing

@testable import MulticastStress

/// Which small histories an ordered set can explain, and which not.
@Suite struct LinearHistoryTests {
  private typealias Operation = LinearHistory.Operation

  /// Whether these can be explained, one after the other in time.
  private func explains(_ actions: LinearHistory.Action...) -> Bool {
    LinearHistory(
      operations: actions.enumerated().map { index, action in
        Operation(action: action, began: 2 * index, returned: 2 * index + 1)
      }
    ).isLinearizable
  }

  /// Whether these can be explained: each with the times of its call and its return.
  private func explains(_ operations: (LinearHistory.Action, ClosedRange<Int>)...) -> Bool {
    LinearHistory(
      operations: operations.map { action, times in
        Operation(action: action, began: times.lowerBound, returned: times.upperBound)
      }
    ).isLinearizable
  }

  @Test func oneAfterTheOtherItIsAnOrderedSet() {
    #expect(explains(.invoke([])))
    #expect(explains(.add(0), .add(1), .invoke([0, 1])))
    #expect(explains(.add(0), .add(0), .invoke([0])))
    #expect(explains(.add(0), .add(1), .remove(0, found: true), .add(0), .invoke([1, 0])))
    #expect(explains(.add(0), .cancel(0), .isActive(0, false), .contains(0, found: false)))
  }

  @Test func wrongResultsAreRefused() {
    #expect(!explains(.invoke([0])))
    #expect(!explains(.add(0), .invoke([])))
    #expect(!explains(.add(0), .invoke([0, 0])))
    #expect(!explains(.add(0), .add(1), .invoke([1, 0])))
    #expect(!explains(.add(0), .remove(0, found: false)))
    #expect(!explains(.remove(0, found: true)))
    #expect(!explains(.add(0), .remove(0, found: true), .contains(0, found: true)))
    #expect(!explains(.add(0), .remove(0, found: true), .invoke([0])))
    #expect(!explains(.add(0), .cancel(0), .isActive(0, true)))
  }

  @Test func cancellingAgainDoesNotHitANewRegistration() {
    #expect(
      explains(
        .add(0), .remove(0, found: true), .add(0), .cancel(0), .contains(0, found: true)))
    #expect(
      !explains(
        .add(0), .remove(0, found: true), .add(0), .cancel(0), .contains(0, found: false)))
  }

  @Test func atOneTimeEitherOrderExplains() {
    #expect(explains((.add(0), 0...5), (.invoke([]), 1...4)))
    #expect(explains((.add(0), 0...5), (.invoke([0]), 1...4)))
    #expect(explains((.add(0), 0...5), (.add(1), 1...4), (.invoke([1, 0]), 6...7)))
  }

  @Test func orderOfReturnAndCallIsKept() {
    // The first addition had returned when the second was called.
    #expect(!explains((.add(0), 0...1), (.add(1), 2...5), (.invoke([1]), 3...4)))
    #expect(explains((.add(0), 0...1), (.add(1), 2...5), (.invoke([0]), 3...4)))
    // What one invocation has seen, a later one sees.
    #expect(!explains((.add(0), 0...9), (.invoke([0]), 1...2), (.invoke([]), 3...4)))
  }

  @Test func anInvocationLooksAtEachInTurn() {
    // Both are removed in the meantime: those reached before are called.
    for calls in [[], [0], [1], [0, 1]] {
      #expect(
        explains(
          (.add(0), 0...1), (.add(1), 2...3), (.invoke(calls), 4...15),
          (.remove(0, found: true), 5...6), (.remove(1, found: true), 7...8)))
    }
    // The second is removed before the first: that it is called means that the first was.
    #expect(
      !explains(
        (.add(0), 0...1), (.add(1), 2...3), (.invoke([1]), 4...15),
        (.remove(1, found: true), 5...6), (.remove(0, found: true), 7...8)))
  }

  @Test func whatIsAddedAgainWaitsForTheNextInvocation() {
    for calls in [[], [0]] {
      #expect(
        explains(
          (.add(0), 0...1), (.invoke(calls), 2...9), (.remove(0, found: true), 3...4),
          (.add(0), 5...6)))
    }
    #expect(
      !explains(
        (.add(0), 0...1), (.invoke([0, 0]), 2...9), (.remove(0, found: true), 3...4),
        (.add(0), 5...6)))
  }
}
