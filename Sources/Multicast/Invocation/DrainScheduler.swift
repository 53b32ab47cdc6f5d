internal import Dispatch

/// Puts the blocks of many mailboxes on their queues, on a thread of its own.
///
/// Scheduling a block costs several times as much as appending to a mailbox. An invocation that
/// finds a few mailboxes idle schedules their blocks itself: that is the shortest way. One that
/// finds many idle leaves them here, and while there is work here every invocation does. So senders
/// go on sending, the mailboxes fill, and a block finds more than one element.
///
/// The thread is never blocked: scheduling a block does not wait, whatever the queue is doing.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class DrainScheduler: @unchecked Sendable {
  // Sendable: `waiting` and `role` are touched inside `lock` alone, `batch` by the one block that
  // is on the queue.

  static let shared = DrainScheduler()

  /// How many blocks an invocation schedules itself.
  static var perInvocation: Int { 4 }

  /// A mailbox, and its entry with a retain, which the block takes over.
  typealias WakeUp = (mailbox: Unmanaged<QueueMailbox>, entry: Unmanaged<Entry>)

  private let queue = DispatchQueue(label: "Multicast.DrainScheduler")
  private let lock = Lock()
  private var waiting: [WakeUp] = []
  /// Scheduling what waits.
  private var role = ExclusiveRole()
  private var batch: [WakeUp] = []

  private init() {}

  /// Schedules the block of `mailbox` later, if there is work here already or `begins`.
  ///
  /// - Returns: whether it did.
  func take(_ mailbox: QueueMailbox, _ entry: Entry, begins: Bool) -> Bool {
    let (isTaken, mustSchedule) = lock.withLock { () -> (Bool, Bool) in
      guard role.isTaken || begins else { return (false, false) }
      waiting.append((.passUnretained(mailbox), .passRetained(entry)))
      return (true, role.take())
    }
    if mustSchedule { queue.async { self.work() } }
    return isTaken
  }

  private func work() {
    while takeBatch() {
      // SAFETY: the retain of the entry, which keeps its mailbox, is given to the block.
      for (mailbox, entry) in batch { mailbox._withUnsafeGuaranteedRef { $0.schedule(entry) } }
      batch.removeAll(keepingCapacity: true)
    }
  }

  /// - Returns: whether there is something to do; otherwise it is over.
  private func takeBatch() -> Bool {
    lock.withLock {
      swap(&waiting, &batch)
      return role.keep(if: !batch.isEmpty)
    }
  }
}
