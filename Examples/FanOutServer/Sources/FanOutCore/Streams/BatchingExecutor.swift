internal import NIOConcurrencyHelpers
internal import NIOCore

/// Runs the tasks of an event loop's streams on that event loop, in batches.
///
/// One event wakes a thousand tasks. They run together, and the loop then flushes their writes. After
/// a batch the executor lingers: further events collect in the buffers of the hub, and a task takes
/// all of them in one run and one write. If the last batch is longer ago than that, a batch runs at
/// once. The pause is per event loop: it also delays a stream that has been idle.
final class BatchingExecutor: TaskExecutor, @unchecked Sendable {
  // Sendable: `lock` guards `jobs`. `loop` is set before the first task; all else belongs to the event
  // loop.

  private let eventLoop: any EventLoop
  private let linger: TimeAmount
  private let lock = NIOLock()
  /// The next batch. If it is not empty, a call of `plan` or `runJobs` is scheduled.
  private var jobs: [UnownedJob] = []
  private var batch: [UnownedJob] = []
  private var lastRun = NIODeadline.uptimeNanoseconds(0)
  /// Whether the next batch runs without lingering.
  private var isUrgent = false
  weak var loop: ConnectionLoop?

  /// - Parameter linger: the minimum time between two batches.
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

  /// Runs the next batch without lingering. Call it on the event loop.
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

  /// Runs the waiting jobs. Jobs that arrive in the meantime run in the next batch, so that the event
  /// loop serves its sockets in between.
  private func runJobs() {
    isUrgent = false
    lock.withLock { swap(&jobs, &batch) }
    for job in batch { job.runSynchronously(on: asUnownedTaskExecutor()) }
    batch.removeAll(keepingCapacity: batch.count <= 16_384)
    loop?.flush()
    lastRun = .now()
  }
}
