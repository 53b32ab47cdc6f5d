internal import Dispatch

/// A serial executor on any dispatch queue.
///
/// `DispatchSerialQueue` is not an executor on Linux, and a concurrent queue never is one.
final class QueueExecutor: SerialExecutor {
  private let queue: DispatchQueue

  /// Creates an executor that runs its jobs on `target`, one at a time.
  init(on target: DispatchQueue) {
    queue = DispatchQueue(label: "swift-multicast.actor", target: target)
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}
