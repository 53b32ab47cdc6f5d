import Dispatch
import MulticastTestSupport

/// A serial executor that counts jobs and can be suspended.
final class StationExecutor: SerialExecutor {
  let queue = DispatchQueue(label: "station")
  let jobs = Counter()

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    // The job may be the last to use the actor: then `self` is gone when it has run.
    let jobs = jobs
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    // After that: a test that sees the count knows that the job has its place in the queue.
    jobs.add()
  }
}

/// An actor whose executor a test can suspend.
actor Station {
  nonisolated let executor = StationExecutor()
  private let tracker: LifetimeTracker?
  var received: [Int] = []

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(tracker: LifetimeTracker? = nil) {
    self.tracker = tracker
    tracker?.noteCreation()
  }

  deinit { tracker?.noteDestruction() }

  func receive(_ value: Int) { received.append(value) }

  func perform<R: Sendable>(_ body: @Sendable (isolated Station) -> R) -> R { body(self) }
}
