import ConcurrencyStress
import OpenCombine
import Synchronization

/// The subjects of OpenCombine.
enum OpenCombineFindings {
  static let scenarios = [
    staleValue.scenario(
      "current-value",
      promise: "the last value that a subscriber of CurrentValueSubject gets is its value"),
    cancellation.scenario(
      "passthrough-cancel",
      promise: "PassthroughSubject calls no subscriber after cancel has returned"),
    values.scenario(
      "current-value-linearizability", promise: "the value of CurrentValueSubject is linearizable"),
  ]

  /// A subject with one subscriber, to which two threads send.
  private final class Current: @unchecked Sendable {
    // Sendable: OpenCombine's subjects lock; `subscription` is written before the threads begin.
    let subject = CurrentValueSubject<Int, Never>(0)
    let last = Atomic<Int>(0)
    var subscription: AnyCancellable?

    init() {
      subscription = subject.sink { [unowned self] value in
        Perturbation.delay()
        last.store(value, ordering: .sequentiallyConsistent)
      }
    }
  }

  private static let staleValue = OutcomeTest(
    { Current() },
    actors: [{ $0.subject.send(1) }, { $0.subject.send(2) }],
    outcome: { $0.last.load(ordering: .sequentiallyConsistent) == $0.subject.value },
    expected: [
      true: .accepted(),
      false: .forbidden("the subscriber keeps a value that is older than that of the subject"),
    ])

  private final class Passthrough: @unchecked Sendable {
    // Sendable: as for `Current`.
    let subject = PassthroughSubject<Int, Never>()
    let isCancelled = Atomic(false)
    let wasCalledLate = Atomic(false)
    var subscription: AnyCancellable?

    init() {
      subscription = subject.sink { [unowned self] _ in
        Perturbation.delay()
        if isCancelled.load(ordering: .sequentiallyConsistent) {
          wasCalledLate.store(true, ordering: .sequentiallyConsistent)
        }
      }
    }
  }

  private static let cancellation = OutcomeTest(
    { Passthrough() },
    actors: [
      { $0.subject.send(1) },
      { state in
        state.subscription!.cancel()
        state.isCancelled.store(true, ordering: .sequentiallyConsistent)
      },
    ],
    outcome: { $0.wasCalledLate.load(ordering: .sequentiallyConsistent) },
    expected: [
      false: .accepted(), true: .forbidden("the subscriber ran after cancel had returned"),
    ])

  private final class Value: @unchecked Sendable {
    // Sendable: OpenCombine's subjects lock.
    let subject = CurrentValueSubject<Int, Never>(0)
  }

  private static let values = LinearizabilityTest({ Value() }, model: 0, threads: 3)
    .operation("set", 1...3, { $0.subject.value = $1 }, model: { $0 = $1 })
    .operation("value", { $0.subject.value }, model: { $0 })
}
