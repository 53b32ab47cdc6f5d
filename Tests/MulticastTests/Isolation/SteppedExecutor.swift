import Foundation
import MulticastTestSupport

/// A serial executor whose jobs a test runs, the newest first, with those of the task executor that
/// the tasks prefer.
final class SteppedExecutor: SerialExecutor {
  /// The task executor.
  let preferred: PreferredExecutor
  private let jobs = SteppedJobs()

  init() {
    preferred = PreferredExecutor(jobs)
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.append { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  /// Runs the newest job up to its next suspension.
  ///
  /// - Returns: whether there was a job.
  func runNewest() -> Bool { jobs.run { $0.popLast() } }

  /// As ``runNewest()``, with the oldest job.
  func runOldest() -> Bool { jobs.run { $0.isEmpty ? nil : $0.removeFirst() } }

  /// Returns when there is a job.
  func waitForJob() {
    while jobs.isEmpty { sched_yield() }
  }

  /// Performs `action`, and runs only jobs that come after that, until `condition` holds.
  ///
  /// - Returns: as ``run(until:)``.
  func run(after action: () -> Void, until condition: () -> Bool) -> Bool {
    let earlier = jobs.takeAll()
    defer { jobs.prepend(earlier) }
    action()
    return run(until: condition)
  }

  /// Runs jobs, the newest first, until `condition` holds.
  ///
  /// - Returns: whether it holds; `false`: there was no job for five seconds, after each of which
  ///   the global pool ran a job. Where other tests keep the pool busy, a job may be on its way
  ///   from it for longer.
  func run(until condition: () -> Bool) -> Bool {
    var pause = Pause()
    while !condition() {
      if runNewest() {
        pause = Pause()
      } else if pause.isLong() {
        return false
      } else {
        sched_yield()
      }
    }
    return true
  }

  /// A time without a job.
  private struct Pause {
    private var seconds = 0
    private var end = ContinuousClock.now + .seconds(1)
    /// Counts a job of the global pool that was enqueued at the end of a second.
    private var probe: Counter?

    mutating func isLong() -> Bool {
      guard ContinuousClock.now >= end else { return false }
      guard let probe else {
        let probe = Counter()
        self.probe = probe
        Task.detached { probe.add() }
        return false
      }
      guard probe.value > 0 else { return false }
      seconds += 1
      end = .now + .seconds(1)
      self.probe = nil
      return seconds == 5
    }
  }

  final class PreferredExecutor: TaskExecutor {
    private let jobs: SteppedJobs

    fileprivate init(_ jobs: SteppedJobs) {
      self.jobs = jobs
    }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      jobs.append { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }
}

private final class SteppedJobs: @unchecked Sendable {
  // Sendable: `jobs` is used only inside `lock`, of a kind that the thread sanitizer sees.
  typealias Job = @Sendable () -> Void

  private let lock = NSLock()
  private var jobs: [Job] = []

  var isEmpty: Bool { lock.withLock { jobs.isEmpty } }

  func append(_ job: @escaping Job) {
    lock.withLock { jobs.append(job) }
  }

  func takeAll() -> [Job] {
    lock.withLock {
      defer { jobs = [] }
      return jobs
    }
  }

  func prepend(_ earlier: [Job]) {
    lock.withLock { jobs.insert(contentsOf: earlier, at: 0) }
  }

  func run(_ take: (inout [Job]) -> Job?) -> Bool {
    guard let job = lock.withLock({ take(&jobs) }) else { return false }
    job()
    return true
  }
}
