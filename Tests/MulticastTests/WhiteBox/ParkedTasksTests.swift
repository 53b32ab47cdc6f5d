import Dispatch
import MulticastTestSupport
import Synchronization
import Testing

@testable import Multicast

/// `ParkedTasks`: a task that has run a job on an actor waits for the next one.
@Suite("ParkedTasks")
struct ParkedTasksTests {
  /// Where the jobs run.
  enum Place: CaseIterable {
    case globalPool
    case mainActor

    var tasks: ParkedTasks { ParkedTasks(isOnMainActor: self == .mainActor) }
    /// Another one with each access, if there are several.
    var home: any Actor { self == .mainActor ? MainActor.shared : Home() }
  }

  @Test("a task that has run a job runs the next one, on another actor", arguments: Place.allCases)
  func reuse(place: Place) async {
    let tasks = place.tasks
    defer { tasks.endAll() }
    let first = NotingJob()
    tasks.run(ActorRun(job: first, home: place.home))
    await tasks.wait(for: 1)
    #expect(first.task != 0)
    for _ in 0..<100 {
      let next = NotingJob()
      tasks.run(ActorRun(job: next, home: place.home))
      await tasks.wait(for: 1, after: next)
      #expect(next.task == first.task)
    }
  }

  @Test("a task that waits keeps neither a job nor its actor alive", arguments: Place.allCases)
  func ownership(place: Place) async {
    let tasks = place.tasks
    defer { tasks.endAll() }
    for _ in 0..<2 {
      weak var weakJob: NotingJob?
      weak var weakHome: (any Actor)?
      do {
        let job = NotingJob()
        let home = place.home
        weakJob = job
        // Not the main actor, which lives forever: its first weak reference would never be freed.
        if place == .globalPool { weakHome = home }
        tasks.run(ActorRun(job: job, home: home))
        await tasks.wait(for: 1, after: job)
      }
      #expect(weakJob == nil)
      #expect(weakHome == nil)
    }
  }

  @Test(
    "the tasks that wait end, and keep nothing", .timeLimit(.minutes(10)),
    arguments: Place.allCases)
  func end(place: Place) async {
    weak var weakTasks: ParkedTasks?
    do {
      let tasks = place.tasks
      weakTasks = tasks
      let job = NotingJob()
      tasks.run(ActorRun(job: job, home: place.home))
      await tasks.wait(for: 1, after: job)
      tasks.endAll()
    }
    while weakTasks != nil { await Task.yield() }
  }

  @Test("of 40 tasks that have run a job, 16 wait", arguments: Place.allCases)
  func limit(place: Place) async {
    let tasks = place.tasks
    defer { tasks.endAll() }
    let home = place.home
    let gate = DispatchSemaphore(value: 0)
    let isBlocked = DispatchSemaphore(value: 0)
    Task.detached { await block(home, isBlocked, until: gate) }
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

  @Test("a task that was cancelled while it ran a job runs no other", arguments: Place.allCases)
  func cancelled(place: Place) async {
    let tasks = place.tasks
    defer { tasks.endAll() }
    let first = NotingJob { withUnsafeCurrentTask { $0?.cancel() } }
    tasks.run(ActorRun(job: first, home: place.home))
    await first.wait()
    let second = NotingJob()
    tasks.run(ActorRun(job: second, home: place.home))
    await tasks.wait(for: 1, after: second)
    #expect(second.task != first.task)
    #expect(!second.isCancelled)
    #expect(tasks.count == 1)
  }

  @Test("a task that has received an event of a sequence runs no other", arguments: Place.allCases)
  func received(place: Place) async {
    await expectNewTask(in: place) {}
  }

  @Test(
    "a task that has received an event runs no other, though a handler ran inside of its job",
    arguments: Place.allCases)
  func receivedOutside(place: Place) async {
    let (nested, calls, inner) = (EventHub<Int>(), Counter(), InlineActor())
    let subscription = nested.subscribe(with: inner) { _, _ in calls.add() }
    await expectNewTask(in: place) {
      nested.send(1)
      #expect(calls.value == 1)  // It ran here.
    }
    withExtendedLifetime((inner, subscription)) {}
  }

  /// Expects that a job has a task of its own after one that receives an event, and then performs
  /// `action`.
  private func expectNewTask(
    in place: Place, after action: @escaping @Sendable () -> Void
  ) async {
    let tasks = place.tasks
    defer { tasks.endAll() }
    let first = NotingJob {
      let hub = EventHub<Int>()
      let iterator = hub.events().makeAsyncIterator()
      hub.send(1)
      #expect(iterator.nextIfAvailable() == 1)
      action()
    }
    tasks.run(ActorRun(job: first, home: place.home))
    await first.wait()
    let second = NotingJob()
    tasks.run(ActorRun(job: second, home: place.home))
    await tasks.wait(for: 1, after: second)
    #expect(second.task != first.task)
    #expect(tasks.count == 1)
  }

  @Test("tasks wait for actors that run on the global pool, and others for the main actor")
  func actors() {
    let tasks = ParkedTasks.tasks(for: Home())
    let mainActorTasks = ParkedTasks.tasks(for: MainActor.shared)
    #expect(tasks != nil)
    #expect(mainActorTasks != nil)
    #expect(tasks !== mainActorTasks)
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
  private let action: @Sendable () -> Void
  private let ended = AsyncStream.makeStream(of: Void.self)

  init(_ action: @escaping @Sendable () -> Void = {}) { self.action = action }

  /// The number of the task; 0 if the job has not run.
  var task: UInt64 { number.load(ordering: .acquiring) }
  var isCancelled: Bool { wasCancelled.load(ordering: .acquiring) }

  func run(on home: isolated any Actor) {
    home.assertIsolated()
    wasCancelled.store(Task.isCancelled, ordering: .releasing)
    action()
    number.store(TaskIdentity.currentNumber, ordering: .releasing)
    ended.continuation.finish()
  }

  func wait() async { for await _ in ended.stream {} }
}

private actor Home {}

/// An actor whose jobs run on the thread that enqueues them.
private actor InlineActor {
  private final class Executor: SerialExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
      job.runSynchronously(on: asUnownedSerialExecutor())
    }
  }

  private let executor = Executor()
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
}

private func block(
  _ home: isolated any Actor, _ isBlocked: DispatchSemaphore, until gate: DispatchSemaphore
) {
  isBlocked.signal()
  gate.wait()
}
