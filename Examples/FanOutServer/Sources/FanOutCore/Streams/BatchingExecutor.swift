internal import NIOConcurrencyHelpers
internal import NIOCore

/// Runs the tasks of a loop's streams on its event loop, in batches.
///
/// An event wakes a thousand tasks at once. They run together, and what they have written is
/// flushed after them. Then the loop lingers: until the next batch, more events may come to the
/// hub, where another one for a task that is to run anyway costs next to nothing, and goes to the
/// socket with the others. A loop that has been quiet for that long runs at once. The
/// pause belongs to the loop: a stream that has been quiet waits too if another one of its loop has
/// not been.
final class BatchingExecutor: TaskExecutor, @unchecked Sendable {
  // Sendable: `jobs` is touched inside `lock` alone, the rest on the event loop alone.

  private let eventLoop: any EventLoop
  private let linger: TimeAmount
  private let lock = NIOLock()
  /// What is to be run next. Somebody sees to it if there is something.
  private var jobs: [UnownedJob] = []
  private var batch: [UnownedJob] = []
  private var lastRun = NIODeadline.uptimeNanoseconds(0)
  /// Whether the next batch is due at once.
  private var isUrgent = false
  weak var loop: ConnectionLoop?

  /// - Parameter linger: from one batch to the next.
  init(_ eventLoop: any EventLoop, linger: TimeAmount) {
    self.eventLoop = eventLoop
    self.linger = linger
  }
}

extension BatchingExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isFirst = lock.withLock {
      jobs.append(job)
      return jobs.count == 1
    }
    if isFirst { eventLoop.execute { self.plan() } }
  }

  /// Does not linger before the next batch. To be called on the event loop.
  func skipLinger() {
    isUrgent = true
    eventLoop.assumeIsolated().execute { if self.isUrgent { self.runJobs() } }
  }

  private func plan() {
    let due = lastRun + linger
    if isUrgent || due <= .now() {
      runJobs()
    } else {
      eventLoop.assumeIsolated().scheduleTask(deadline: due) { self.runJobs() }
    }
  }

  /// Runs what waits now; what comes meanwhile is for the next time, so that the sockets have their
  /// turn between.
  private func runJobs() {
    isUrgent = false
    lock.withLock { swap(&jobs, &batch) }
    for job in batch { job.runSynchronously(on: asUnownedTaskExecutor()) }
    batch.removeAll(keepingCapacity: batch.count <= 16_384)
    loop?.flush()
    lastRun = .now()
  }
}
