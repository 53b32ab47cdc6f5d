internal import Dispatch

/// A serial executor on any dispatch queue.
///
/// `DispatchSerialQueue` is one too, but not on Linux, and does not do for a concurrent queue.
final class QueueExecutor: SerialExecutor {
  private let queue: DispatchQueue

  /// An executor that runs its jobs on `target`, one at a time.
  init(on target: DispatchQueue) {
    queue = DispatchQueue(label: "swift-multicast.actor", target: target)
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}
