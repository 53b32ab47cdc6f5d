import Foundation
import MulticastTestSupport
import Synchronization

/// A serial executor whose jobs a test runs, the newest first, with those of the task executor that the
/// tasks prefer.
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
  func runNewest() -> Bool { jobs.runNewest() }

  /// Performs `action`, and runs only jobs that come after that, until `condition` holds.
  ///
  /// - Returns: as ``run(until:)``.
  func run(after action: () -> Void, until condition: () -> Bool) -> Bool {
    let earlier = jobs.exchange([])
    defer { jobs.exchange(earlier + jobs.exchange([])) }
    action()
    return run(until: condition)
  }

  /// Runs jobs, the newest first, until `condition` holds.
  ///
  /// - Returns: whether it holds; `false`: there was no job for five seconds.
  func run(until condition: () -> Bool) -> Bool {
    var deadline = ContinuousClock.now + .seconds(5)
    while !condition() {
      if runNewest() {
        deadline = .now + .seconds(5)
      } else if ContinuousClock.now > deadline {
        return false
      } else {
        Thread.sleep(forTimeInterval: 0.000_1)
      }
    }
    return true
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

private final class SteppedJobs: Sendable {
  private let jobs = Mutex<[@Sendable () -> Void]>([])

  func append(_ job: @escaping @Sendable () -> Void) {
    jobs.withLock { $0.append(job) }
  }

  @discardableResult
  func exchange(_ new: [@Sendable () -> Void]) -> [@Sendable () -> Void] {
    jobs.withLock { jobs in
      defer { jobs = new }
      return jobs
    }
  }

  func runNewest() -> Bool {
    guard let job = jobs.withLock({ $0.popLast() }) else { return false }
    job()
    return true
  }
}
