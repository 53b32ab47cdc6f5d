import ConcurrencyStress
import Foundation
import Synchronization

private let name = Notification.Name("stress")

/// Foundation's NotificationCenter.
enum NotificationCenterFindings {
  static let scenarios = [
    removal.scenario(
      "notification-removal",
      promise: "NotificationCenter calls no block after removeObserver has returned"),
    posting.scenario(
      "notification-linearizability",
      promise: "NotificationCenter's addObserver and post are linearizable"),
    StressScenario(
      "notification-order",
      promise: "NotificationCenter calls observers in the order of their registration"
    ) { trial in
      while !trial.isOver {
        let order = registrationOrder()
        trial.activities[0].add(1)
        trial.expect(order == order.sorted(), "8 observers were called in the order \(order)")
        trial.completeRound()
      }
    },
  ]

  // MARK: A call after the removal

  /// A centre with one observer, which one thread removes while another posts.
  private final class Removal: @unchecked Sendable {
    // Sendable: `observer` is written before the threads begin.
    let center = NotificationCenter()
    let wasRemoved = Atomic(false)
    let wasCalledLate = Atomic(false)
    var observer: (any NSObjectProtocol)?

    init() {
      observer = center.addObserver(forName: name, object: nil, queue: nil) { [unowned self] _ in
        Perturbation.delay()
        if wasRemoved.load(ordering: .sequentiallyConsistent) {
          wasCalledLate.store(true, ordering: .sequentiallyConsistent)
        }
      }
    }
  }

  private static let removal = OutcomeTest(
    { Removal() },
    actors: [
      { state in
        state.center.removeObserver(state.observer!)
        state.wasRemoved.store(true, ordering: .sequentiallyConsistent)
      },
      { $0.center.post(name: name, object: nil) },
    ],
    outcome: { $0.wasCalledLate.load(ordering: .sequentiallyConsistent) },
    expected: [
      false: .accepted("called before or not at all"),
      true: .forbidden("the block ran after removeObserver had returned"),
    ])

  // MARK: Linearizability

  /// Observers that are registered by number, and stay until the centre goes.
  private final class Center: Sendable {
    private let center = NotificationCenter()

    /// What one post has called.
    final class Calls: @unchecked Sendable {
      // Sendable: a post calls its observers on its own thread.
      var numbers: [Int] = []
    }

    func add(_ number: Int) {
      _ = center.addObserver(forName: name, object: nil, queue: nil) { notification in
        (notification.object as? Calls)?.numbers.append(number)
      }
    }

    func post() -> [Int] {
      let calls = Calls()
      center.post(name: name, object: calls)
      return calls.numbers.sorted()
    }
  }

  /// The model: how often each number is registered.
  private static let posting = LinearizabilityTest({ Center() }, model: [Int](), threads: 3)
    .operation("add", [1], { $0.add($1) }, model: { $0.append($1) })
    .operation("post", { $0.post() }, model: { $0.sorted() })

  // MARK: Order

  private static func registrationOrder() -> [Int] {
    let center = NotificationCenter()
    let called = Mutex<[Int]>([])
    let tokens = (0..<8).map { number in
      center.addObserver(forName: name, object: nil, queue: nil) { _ in
        called.withLock { $0.append(number) }
      }
    }
    center.post(name: name, object: nil)
    for token in tokens { center.removeObserver(token) }
    return called.withLock { $0 }
  }
}
