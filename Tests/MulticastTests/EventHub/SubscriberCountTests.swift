import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@Suite("A sender learns how many subscribers there are, and of each that comes or goes")
struct SubscriberCountTests {
  private static var hubs: [EventHub<Int>] {
    [EventHub(), EventHub(ordering: .total), EventHub(replay: 1)]
  }

  @Test("the number now, and each change")
  func counts() async {
    for hub in Self.hubs {
      let first = hub.subscribe { _ in }
      let iterator = hub.subscriberCounts(buffering: .unbounded).makeAsyncIterator()
      #expect(iterator.nextIfAvailable() == 1)
      let second = hub.subscribe(on: .global()) { _ in }
      first.cancel()
      first.cancel()
      second.cancel()
      #expect(iterator.nextIfAvailable() == 2)
      #expect(iterator.nextIfAvailable() == 1)
      #expect(iterator.nextIfAvailable() == 0)
      #expect(iterator.nextIfAvailable() == nil)
    }
  }

  @Test("a slow consumer gets the newest number, and the sequence ends with the hub")
  func slowConsumer() async {
    var hub: EventHub<Int>? = EventHub()
    let sequence = hub!.subscriberCounts()
    let subscriptions = (0..<5).map { _ in hub!.subscribe { _ in } }
    let iterator = sequence.makeAsyncIterator()
    #expect(await iterator.next() == 5)
    #expect(hub!.subscriberCount == 5, "observing is not subscribing")
    hub = nil
    #expect(await iterator.next() == 0)
    #expect(await iterator.next() == nil)
    withExtendedLifetime(subscriptions) {}
  }

  @Test("await the first subscriber, several, and the last one's end")
  func waiting() async {
    for hub in Self.hubs {
      #expect(await hub.waitForNoSubscribers())
      async let one = hub.waitForSubscribers()
      async let three = hub.waitForSubscribers(atLeast: 3)
      let first = hub.subscribe { _ in }
      #expect(await one)
      let others = (0..<2).map { _ in hub.subscribe { _ in } }
      #expect(await three)
      #expect(await hub.waitForSubscribers(atLeast: 2))
      async let none = hub.waitForNoSubscribers()
      first.cancel()
      for subscription in others { subscription.cancel() }
      #expect(await none)
    }
  }

  @Test("a finished hub gets no subscribers; its last one goes when it has received what waits")
  func finished() async {
    for hub in Self.hubs {
      let sequence = hub.events()
      hub.send(1)
      async let many = hub.waitForSubscribers(atLeast: 9)
      await Task.yield()
      hub.finish()
      #expect(await !many)
      #expect(await !hub.waitForSubscribers())
      let gone = Gate("gone")
      let waiter = Task {
        #expect(await hub.waitForNoSubscribers())
        gone.open()
      }
      for await event in sequence { #expect(event == 1 && !gone.isOpen) }
      await waiter.value
    }
  }

  @Test("the numbers go on after finish, as subscribers receive what waits")
  func countsAfterFinish() async {
    for hub in Self.hubs {
      let counts = hub.subscriberCounts().makeAsyncIterator()
      let sequence = hub.events()
      hub.send(1)
      hub.finish()
      #expect(counts.nextIfAvailable() == 1 && counts.end == nil)
      for await event in sequence { #expect(event == 1) }
      #expect(counts.nextIfAvailable() == 0 && counts.end == nil)
    }
  }

  @Test("a report that comes late ends no wait")
  func lateReport() async {
    await onOwnThread {
      for hub in Self.hubs {
        let executor = NoticingExecutor()
        let counts = hub.subscriberCounts()
        let first = hub.subscribe { _ in }
        let second = Holder<EventSubscription>(nil)
        let ended = Counter()
        let consumer = Task(executorPreference: executor) { for await _ in counts {} }
        executor.runAll()
        // In the middle of the report that no subscriber is left, there is another one.
        executor.notice.value = {
          executor.notice.value = nil
          second.value = hub.subscribe { _ in }
          Task(executorPreference: executor) {
            await hub.waitForNoSubscribers()
            ended.add()
          }
          executor.runAll()
        }
        first.cancel()
        executor.runAll()
        #expect(second.value != nil && ended.value == 0)
        second.value?.cancel()
        executor.runAll()
        #expect(ended.value == 1)
        consumer.cancel()
        executor.runAll()
      }
    }
  }

  @Test("in a hook that learns of one that has gone, a wait for the end of the others ends")
  func waitInHook() async {
    await onOwnThread {
      let executor = NoticingExecutor()
      let hub = Holder<EventHub<Int>>(nil)
      let second = Holder<EventSubscription>(nil)
      let numbers = Journal()
      let ended = Counter()
      hub.value = EventHub(onSubscriberChange: { change in
        guard change == .removed(count: 1), let hub = hub.value else { return }
        second.value?.cancel()
        let counts = hub.subscriberCounts().makeAsyncIterator()
        numbers.record(counts.nextIfAvailable() ?? -1)
        Task(executorPreference: executor) {
          await hub.waitForNoSubscribers()
          ended.add()
        }
        executor.runAll()
        numbers.record(ended.value)
      })
      let first = hub.value!.subscribe { _ in }
      second.value = hub.value!.subscribe { _ in }
      first.cancel()
      #expect(numbers.entries == [0, 1])
      executor.runAll()
      (hub.value, second.value) = (nil, nil)
    }
  }

  @Test("the last number is reported if the hub is released during a report")
  func lateEnd() async {
    await onOwnThread {
      let executor = NoticingExecutor()
      let hub = Holder<EventHub<Int>>(EventHub())
      let first = hub.value!.subscribe { _ in }
      let second = hub.value!.subscribe { _ in }
      let counts = hub.value!.subscriberCounts(buffering: .unbounded)
      let journal = Journal()
      Task(executorPreference: executor) {
        for await count in counts { journal.record(count) }
        journal.record(-1)
      }
      executor.runAll()
      // In the middle of the report that one is left.
      executor.notice.value = {
        executor.notice.value = nil
        second.cancel()
        hub.value = nil
      }
      first.cancel()
      executor.runAll()
      #expect(journal.entries == [2, 1, 0, -1])
    }
  }

  @Test("a wait ends with its task")
  func cancelledWait() async {
    let hub = EventHub<Int>()
    let subscription = hub.subscribe { _ in }
    let first = Task { await hub.waitForSubscribers(atLeast: 2) }
    let last = Task { await hub.waitForNoSubscribers() }
    first.cancel()
    last.cancel()
    #expect(await !first.value)
    #expect(await !last.value)
    withExtendedLifetime(subscription) {}
  }

  @Test("a hook for each subscriber, in order, before those of the first and the last")
  func hooks() {
    let log = Guarded<[String]>([])
    let hub = EventHub<Int>(
      onFirstSubscriber: { log.withLock { $0.append("first") } },
      onLastSubscriber: { log.withLock { $0.append("last") } },
      onSubscriberChange: { change in log.withLock { $0.append("\(change)") } })
    let first = hub.subscribe { _ in }
    let second = hub.events()
    first.cancel()
    hub.finish()
    var owner: RecordingObserver? = RecordingObserver()
    withExtendedLifetime(second) {}
    #expect(
      log.withLock { $0 }.prefix(4) == [
        "added(count: 1)", "first", "added(count: 2)", "removed(count: 1)",
      ])
    let other = EventHub<Int>(onSubscriberChange: { change in log.withLock { $0 = ["\(change)"] } })
    other.subscribe(with: owner!) { _, _ in }
    #expect(log.withLock { $0 } == ["added(count: 1)"])
    owner = nil
    other.send(0)
    #expect(log.withLock { $0 } == ["removed(count: 0)"])
  }

  @Test("a hook may use the hub: no lock is held, and no call nests in another")
  func reentrancy() {
    let hub = Holder<EventHub<Int>>(nil)
    let depth = Counter()
    let journal = Journal()
    let nested = Guarded<[EventSubscription]>([])
    hub.value = EventHub<Int>(onSubscriberChange: { change in
      depth.add()
      journal.record(depth.value)
      if case .added(let count) = change, count < 4, let hub = hub.value {
        hub.send(0)
        let subscription = hub.subscribe { _ in }
        nested.withLock { $0.append(subscription) }
      }
      depth.add(-1)
    })
    let subscription = hub.value!.subscribe { _ in }
    #expect(journal.entries == [1, 1, 1, 1])
    #expect(hub.value!.subscriberCount == 4)
    hub.value = nil
    withExtendedLifetime(subscription) {}
    // The hook keeps the array, and a subscription what it belongs to, with the hook.
    let subscriptions = nested.withLock { subscriptions in
      defer { subscriptions = [] }
      return subscriptions
    }
    #expect(subscriptions.count == 3)
  }

  @Test("threads that subscribe and cancel: the numbers add up, and are never out of order")
  func race() async {
    let added = Counter()
    let removed = Counter()
    let failures = Counter()
    let last = Counter()
    let hub = EventHub<Int>(onSubscriberChange: { change in
      switch change {
      case .added(let count):
        added.add()
        if count != last.value + 1 { failures.add() }
        last.add(1)
      case .removed(let count):
        removed.add()
        if count != last.value - 1 || count < 0 { failures.add() }
        last.add(-1)
      }
    })
    let sequence = hub.subscriberCounts(buffering: .unbounded)
    let rounds = 1_000
    await onOwnThread {
      runThreads(4) { _ in
        for _ in 0..<rounds { hub.subscribe { _ in }.cancel() }
      }
    }
    #expect(added.value == 4 * rounds && removed.value == 4 * rounds && failures.value == 0)
    var final: Int?
    let iterator = sequence.makeAsyncIterator()
    while let count = iterator.nextIfAvailable() {
      if !(0...4).contains(count) { failures.add() }
      final = count
    }
    #expect(final == 0 && failures.value == 0)
    #expect(await hub.waitForNoSubscribers())
  }
}

/// Runs its jobs when it is told to, and notices when one comes.
private final class NoticingExecutor: TaskExecutor {
  /// Called when a job has come, by the thread that resumes its task.
  let notice = Holder<@Sendable () -> Void>(nil)
  private let jobs = Guarded<[UnownedJob]>([])

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
    notice.value?()
  }

  func runAll() {
    while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
      job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}
