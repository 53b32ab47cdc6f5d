import Dispatch
import Synchronization
import Testing

@testable import Multicast

/// `ParkedTasks`: a task that has run a job on an actor waits for the next one.
@Suite("ParkedTasks")
struct ParkedTasksTests {
  @Test("a task that has run a job runs the next one, on another actor")
  func reuse() async {
    let tasks = ParkedTasks()
    defer { tasks.endAll() }
    let first = NotingJob()
    tasks.run(ActorRun(job: first, home: Home()))
    await tasks.wait(for: 1)
    let second = NotingJob()
    tasks.run(ActorRun(job: second, home: Home()))
    await tasks.wait(for: 1, after: second)
    #expect(first.task != 0)
    #expect(second.task == first.task)
  }

  @Test("a task that waits keeps neither a job nor its actor alive")
  func ownership() async {
    let tasks = ParkedTasks()
    defer { tasks.endAll() }
    for _ in 0..<2 {
      weak var weakJob: NotingJob?
      weak var weakHome: Home?
      do {
        let job = NotingJob()
        let home = Home()
        weakJob = job
        weakHome = home
        tasks.run(ActorRun(job: job, home: home))
        await tasks.wait(for: 1, after: job)
      }
      #expect(weakJob == nil)
      #expect(weakHome == nil)
    }
  }

  @Test("of 40 tasks that have run a job, 16 wait")
  func limit() async {
    let tasks = ParkedTasks()
    defer { tasks.endAll() }
    let home = Home()
    let gate = DispatchSemaphore(value: 0)
    let isBlocked = DispatchSemaphore(value: 0)
    Task.detached { await home.block(isBlocked, until: gate) }
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        isBlocked.wait()
        continuation.resume()
      }
    }
    let jobs = (0..<40).map { _ in NotingJob() }
    for job in jobs { tasks.run(ActorRun(job: job, home: home)) }
    gate.signal()
    for job in jobs { await job.wait() }
    await tasks.wait(for: ParkedTasks.limit)
    #expect(Set(jobs.map(\.task)).count == 40)
    #expect(tasks.count == 16)
  }

  @Test("a task that was cancelled while it ran a job runs no other")
  func cancelled() async {
    let tasks = ParkedTasks()
    defer { tasks.endAll() }
    let first = NotingJob(cancelsTask: true)
    tasks.run(ActorRun(job: first, home: Home()))
    await first.wait()
    let second = NotingJob()
    tasks.run(ActorRun(job: second, home: Home()))
    await tasks.wait(for: 1, after: second)
    #expect(second.task != first.task)
    #expect(!second.isCancelled)
    #expect(tasks.count == 1)
  }

  @Test("it is for actors that run on the global pool")
  func actors() {
    #expect(ParkedTasks.tasks(for: Home()) != nil)
    #expect(ParkedTasks.tasks(for: MainActor.shared) == nil)
    #expect(ParkedTasks.tasks(for: Station()) == nil)
  }
}

extension ParkedTasks {
  /// Waits until `job` has run, and then until so many tasks wait.
  fileprivate func wait(for expected: Int, after job: NotingJob? = nil) async {
    await job?.wait()
    while count < expected { await Task.yield() }
  }
}

/// A job that notes the task that runs it.
private final class NotingJob: ActorJob {
  private let number = Atomic<UInt64>(0)
  private let wasCancelled = Atomic(false)
  private let cancelsTask: Bool
  private let ended = AsyncStream.makeStream(of: Void.self)

  init(cancelsTask: Bool = false) { self.cancelsTask = cancelsTask }

  /// The number of the task; 0 if the job has not run.
  var task: UInt64 { number.load(ordering: .acquiring) }
  var isCancelled: Bool { wasCancelled.load(ordering: .acquiring) }

  func run(on home: isolated any Actor) {
    home.assertIsolated()
    wasCancelled.store(Task.isCancelled, ordering: .releasing)
    if cancelsTask { withUnsafeCurrentTask { $0?.cancel() } }
    number.store(TaskIdentity.currentNumber, ordering: .releasing)
    ended.continuation.finish()
  }

  func wait() async { for await _ in ended.stream {} }
}

private actor Home {
  func block(_ isBlocked: DispatchSemaphore, until gate: DispatchSemaphore) {
    isBlocked.signal()
    gate.wait()
  }
}
