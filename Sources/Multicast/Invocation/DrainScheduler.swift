internal import Dispatch

/// Schedules the blocks of many mailboxes on their queues, from a thread of its own.
///
/// Scheduling a block costs several times as much as appending to a mailbox. An invocation
/// schedules the blocks of the first few idle mailboxes itself, which has the lowest latency. It
/// leaves more than that to this scheduler, and all of them while the scheduler is running. So
/// senders continue, the mailboxes fill, and a block finds more than one element.
///
/// The scheduler never blocks: scheduling does not wait for the queue.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class DrainScheduler: @unchecked Sendable {
  // Sendable: `waiting` and `role` are used only inside `lock`, `batch` only by the holder of the
  // role.

  static let shared = DrainScheduler()

  /// The number of blocks that an invocation schedules itself.
  static var perInvocation: Int { 4 }

  /// A mailbox, and its entry with a retain that the block consumes.
  private typealias Pending = (mailbox: Unmanaged<QueueMailbox>, entry: Unmanaged<Entry>)

  private let queue = DispatchQueue(label: "Multicast.DrainScheduler")
  /// Guards `waiting` and `role`. No user code runs inside.
  private let lock = Lock()
  private var waiting: [Pending] = []
  /// The role of scheduling what waits.
  private var role = ExclusiveRole()
  private var batch: [Pending] = []

  private init() {}

  /// Schedules the block of `mailbox` later, if the scheduler is running or `mayStart`.
  ///
  /// - Returns: whether it will; otherwise the caller has to.
  func take(_ mailbox: QueueMailbox, _ entry: Entry, mayStart: Bool) -> Bool {
    let (isTaken, mustStart) = lock.withLock { () -> (Bool, Bool) in
      guard role.isTaken || mayStart else { return (false, false) }
      waiting.append((.passUnretained(mailbox), .passRetained(entry)))
      return (true, role.take())
    }
    if mustStart { queue.async { self.run() } }
    return isTaken
  }

  private func run() {
    while takeBatch() {
      // SAFETY: the entry keeps its mailbox until the block, which consumes the retain of the
      // entry, has run; from before that on, this has a retain of the mailbox.
      for (mailbox, entry) in batch { mailbox.takeUnretainedValue().schedule(entry) }
      batch.removeAll(keepingCapacity: true)
    }
  }

  /// - Returns: whether there is a batch; otherwise the role was given up.
  private func takeBatch() -> Bool {
    lock.withLock {
      swap(&waiting, &batch)
      return role.keep(if: !batch.isEmpty)
    }
  }
}
