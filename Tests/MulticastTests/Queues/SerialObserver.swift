import MulticastTestSupport
import Synchronization

/// A delegate that notices when it is called twice at once, or out of a sender's order.
///
/// Sender `s` of `n` sends `s`, `n + s`, `2 * n + s` and so on.
final class SerialObserver: Observing, @unchecked Sendable {
  // Sendable: `latest` is touched while `isInside` is set, by the thread that has set it;
  // everything else is atomic.
  let id = 0
  private let senders: Int
  private var latest: [Int]
  private let isInside = Atomic(false)
  private let received = Atomic<Int>(0)
  private let overlapping = Atomic<Int>(0)
  private let outOfOrder = Atomic<Int>(0)

  init(senders: Int) {
    self.senders = senders
    latest = Array(repeating: -1, count: senders)
  }

  var calls: Int { received.load(ordering: .acquiring) }
  var overlaps: Int { overlapping.load(ordering: .relaxed) }
  var disorders: Int { outOfOrder.load(ordering: .relaxed) }

  func receive(_ value: Int) {
    guard !isInside.exchange(true, ordering: .acquiring) else {
      overlapping.add(1, ordering: .relaxed)
      return
    }
    let sender = value % senders
    if latest[sender] >= value { outOfOrder.add(1, ordering: .relaxed) }
    latest[sender] = value
    isInside.store(false, ordering: .releasing)
    received.add(1, ordering: .acquiringAndReleasing)
  }
}
