internal import Foundation

/// Gives jobs that are about to go to the global pool to the schedule that runs on their thread.
///
/// A task executor gets the jobs of tasks that prefer it. An unstructured `Task { }` inherits no
/// preference. The runtime has a hook for what goes to the global pool; it is installed once, and
/// passes on everything that comes from a thread without a schedule.
enum GlobalJobs {
  private typealias Enqueue = @convention(thin) (UnownedJob) -> Void
  private typealias Hook = @convention(thin) (UnownedJob, Enqueue) -> Void

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let error = pthread_key_create(&key, nil)
    require(error == 0, "pthread_key_create failed with error \(error)")
    return key
  }()

  /// Whether the hook is there. Without it, tasks without a preference run on the global pool.
  static let areCaptured: Bool = {
    _ = key
    let symbol = "swift_task_enqueueGlobal_hook"
    guard let address = dlsym(dlopen(nil, RTLD_LAZY), symbol) else { return false }
    // SAFETY: the runtime declares this variable with this type, and reads it at each use. It is
    // set once, before the first schedule.
    let hook = address.assumingMemoryBound(to: Hook?.self)
    guard hook.pointee == nil else { return false }  // Another tool has its own.
    hook.pointee = { job, original in
      if let executor = GlobalJobs.current {
        executor.adopt(job)
      } else if let executor = GlobalJobs.adopters.executor(of: job) {
        executor.takeBack(job)
      } else {
        original(job)
      }
    }
    return true
  }()

  /// The schedule that runs on this thread.
  private static var current: ScheduleExecutor? {
    // SAFETY: set by `capture` alone, whose caller retains the executor.
    pthread_getspecific(key).map {
      Unmanaged<ScheduleExecutor>.fromOpaque($0).takeUnretainedValue()
    }
  }

  /// The schedules of adopted tasks: another thread that wakes one gives it back.
  static let adopters = Adopters()

  /// Runs `body`; what it, and the jobs that it runs, give to the global pool goes to `executor`.
  static func capture<R>(for executor: ScheduleExecutor, _ body: () -> R) -> R {
    guard areCaptured else { return body() }
    pthread_setspecific(key, Unmanaged.passUnretained(executor).toOpaque())
    defer { pthread_setspecific(key, nil) }
    return withExtendedLifetime(executor) { body() }
  }
}

/// The schedules that have adopted tasks.
final class Adopters: @unchecked Sendable {
  // Sendable: `executors` is accessed under `lock` only.
  private let lock = NSLock()
  private var executors: [UInt64: ScheduleExecutor] = [:]

  /// The schedule that has adopted the task of a job.
  func executor(of job: UnownedJob) -> ScheduleExecutor? {
    lock.withLock {
      guard !executors.isEmpty, let id = ScheduleExecutor.taskID(job.description) else {
        return nil
      }
      return executors[id]
    }
  }

  /// Notes that a schedule has adopted a task.
  func insert(_ id: UInt64, _ executor: ScheduleExecutor) {
    lock.withLock { executors[id] = executor }
  }

  /// Forgets the tasks of a schedule that has ended.
  func remove(_ executor: ScheduleExecutor) {
    let removed = lock.withLock {
      let removed = executors.filter { $0.value === executor }
      for id in removed.keys { executors[id] = nil }
      return removed
    }
    withExtendedLifetime(removed) {}  // Dies outside the lock.
  }
}
