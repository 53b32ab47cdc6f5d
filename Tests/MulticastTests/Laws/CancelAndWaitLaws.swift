// `forEach` of a hub is under test here, not that of `Sequence`.

import Dispatch
import Multicast
import MulticastTestSupport
import Synchronization
import Testing

@Suite("Promise 2: when cancelAndWait returns, the callback is not running and never will")
struct CancelAndWaitLaws {
  @Test("cancelAndWait waits for the callback", arguments: StorageStrategy.allCases)
  func waitsForTheCallback(storage: StorageStrategy) {
    let (hub, delegate, registration) = makeHub(storage)
    let inside = Gate("inside the callback")
    let mayLeave = Gate("the callback may leave")
    let finished = Atomic<Bool>(false)
    runConcurrently {
      hub.forEach { delegate in
        inside.open()
        mayLeave.wait()
        delegate.receive(1)
        finished.store(true, ordering: .relaxed)
      }
    } and: {
      inside.wait()
      #expect(!registration.cancelAndWait(timeout: .zero))
      #expect(!registration.cancelAndWait(timeout: .milliseconds(2)))
      #expect(!registration.isActive, "it has ended in either case")
      mayLeave.open()
      #expect(registration.cancelAndWait(timeout: .seconds(60)))
      let hasFinished = finished.load(ordering: .relaxed)
      #expect(hasFinished)
    }
    hub.forEach { $0.receive(1) }
    #expect(delegate.calls == 1)
    #expect(registration.cancelAndWait(timeout: .zero), "waiting again does nothing")
  }

  @Test("the async form waits for the callback", arguments: StorageStrategy.allCases)
  func asyncFormWaitsForTheCallback(storage: StorageStrategy) async {
    let (hub, delegate, registration) = makeHub(storage)
    let finished = Atomic<Bool>(false)
    let inside = Gate("inside the callback")
    let thread = RunningThread {
      hub.forEach { delegate in
        inside.open()
        yield(until: { !registration.isActive })
        // The waiter has cancelled; it gets plenty of time to return too early.
        var queue = 0
        yield(until: {
          queue += 1
          return queue > 2_000
        })
        delegate.receive(1)
        finished.store(true, ordering: .relaxed)
      }
    }
    inside.wait()  // Without suspending: the pool may be busy with other tests.
    await registration.cancelAndWait()
    let hasFinished = finished.load(ordering: .relaxed)
    #expect(hasFinished)
    await registration.cancelAndWait()
    #expect(hub.isEmpty)
    #expect(delegate.calls == 1)
    thread.join()
  }

  @Test(
    "it waits for this callback alone, not for others of the same invocation",
    arguments: StorageStrategy.allCases)
  func waitsForThisCallbackAlone(storage: StorageStrategy) {
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let delegates = (0..<3).map { RecordingObserver($0) }
    let registrations = delegates.map { hub.add($0) }
    let inside = Gate("inside the second callback")
    let waited = Gate("the neighbours are cancelled")
    runConcurrently {
      hub.forEach { delegate in
        if delegate.id == 1 {
          inside.open()
          waited.wait()  // It opens only if the waiter does not wait for this one.
        }
        delegate.receive(1)
      }
    } and: {
      inside.wait()
      #expect(registrations[0].cancelAndWait(timeout: .seconds(60)))
      #expect(registrations[2].cancelAndWait(timeout: .seconds(60)))
      waited.open()
    }
    #expect(delegates.map(\.calls) == [1, 1, 0])
  }

  @Test(
    "called from inside the callback itself it does not deadlock",
    arguments: StorageStrategy.allCases)
  func fromInsideTheCallback(storage: StorageStrategy) {
    let (hub, delegate, registration) = makeHub(storage)
    hub.forEach { delegate in
      delegate.receive(1)
      #expect(registration.cancelAndWait(timeout: .seconds(60)))
      delegate.receive(1)
    }
    #expect(hub.invoke { $0.receive(1) } == 0)
    #expect(delegate.calls == 2)
  }

  @Test(
    "called from deep inside the callback it does not deadlock",
    arguments: StorageStrategy.allCases)
  func fromDeepInsideTheCallback(storage: StorageStrategy) {
    let outer = MulticastDelegate<any Observing>(storage: storage)
    let inner = MulticastDelegate<any Observing>(storage: storage)
    let (first, second) = (RecordingObserver(1), RecordingObserver(2))
    let registration = outer.add(first)
    inner += second
    outer.forEach { _ in
      inner.forEach { _ in
        inner.forEach { _ in
          #expect(registration.cancelAndWait(timeout: .seconds(60)))
        }
      }
    }
    #expect(outer.isEmpty)
    #expect(inner.count == 1)
  }

  @Test(
    "the promise starts when that callback ends: another thread still waits for it",
    arguments: StorageStrategy.allCases)
  func anotherThreadStillWaits(storage: StorageStrategy) {
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let delegate = RecordingObserver()
    let registration = hub.add(delegate)
    let cancelled = Gate("cancelled from inside")
    let mayLeave = Gate("the callback may leave")
    runConcurrently {
      hub.forEach { _ in
        #expect(registration.cancelAndWait(timeout: .seconds(60)))
        cancelled.open()
        mayLeave.wait()
      }
    } and: {
      cancelled.wait()
      #expect(!registration.cancelAndWait(timeout: .milliseconds(1)))
      mayLeave.open()
      #expect(registration.cancelAndWait(timeout: .seconds(60)))
    }
  }

  @Test(
    "from inside it does not wait for another thread in the same callback; the promise starts later",
    arguments: StorageStrategy.allCases)
  func anotherThreadInTheSameCallback(storage: StorageStrategy) {
    let (hub, delegate, registration) = makeHub(storage)
    let bothInside = StartBarrier(2)
    let cancelled = Gate("cancelled from inside")
    let mayLeave = Gate("the other callback may leave")
    let finished = Atomic<Bool>(false)
    let other = RunningThread {
      hub.forEach { delegate in
        bothInside.arriveAndWait()
        mayLeave.wait()
        delegate.receive(1)
        finished.store(true, ordering: .relaxed)
      }
    }
    let canceller = RunningThread {
      hub.forEach { delegate in
        bothInside.arriveAndWait()
        #expect(registration.cancelAndWait(timeout: .seconds(60)))
        delegate.receive(1)
      }
      cancelled.open()
    }
    cancelled.wait()  // It opens only if the canceller does not wait for the other thread.
    #expect(!registration.cancelAndWait(timeout: .zero), "the other thread is still inside")
    mayLeave.open()
    #expect(registration.cancelAndWait(timeout: .seconds(60)))
    let hasFinished = finished.load(ordering: .relaxed)
    #expect(hasFinished)
    hub.forEach { $0.receive(1) }
    #expect(delegate.calls == 2)
    other.join()
    canceller.join()
  }

  @Test(
    "two threads in the same callback can both cancel it and wait",
    arguments: StorageStrategy.allCases)
  func twoThreadsInTheSameCallback(storage: StorageStrategy) {
    let (hub, delegate, registration) = makeHub(storage)
    let bothInside = StartBarrier(2)
    let bothReturned = StartBarrier(2)
    runThreads(2) { _ in
      hub.forEach { delegate in
        bothInside.arriveAndWait()
        #expect(registration.cancelAndWait(timeout: .seconds(60)))
        bothReturned.arriveAndWait()  // Neither has waited for the other to leave.
        delegate.receive(1)
      }
    }
    #expect(delegate.calls == 2)
    #expect(hub.isEmpty)
  }

  @Test(
    "from inside a filter or a key of the subscription it does not wait for the handler",
    arguments: StorageStrategy.allCases, [true, false])
  func fromInsideAFilterOrAKey(storage: StorageStrategy, inFilter: Bool) {
    let hub = EventHub<Int>(storage: storage)
    let holder = Holder<EventSubscription>(nil)
    let inside = Gate("inside the handler")
    let mayLeave = Gate("the handler may leave")
    let handled = Atomic<Int>(0)
    // The second event comes while the handler has the first.
    let cancel: @Sendable (Int) -> Void = { event in
      guard event == 2 else { return }
      #expect(holder.value!.cancelAndWait(timeout: .seconds(60)))
    }
    holder.value = hub.subscribe(
      on: DispatchQueue(label: "cancel-and-wait-laws"),
      buffering: inFilter
        ? .unbounded
        : .coalescing(by: { event in
          cancel(event)
          return event
        }),
      where: { event in
        if inFilter { cancel(event) }
        return true
      }
    ) { _ in
      inside.open()
      mayLeave.wait()
      handled.add(1, ordering: .relaxed)
    }
    hub.send(1)
    inside.wait()
    hub.send(2)  // It returns only if the filter or the key does not wait for the handler.
    #expect(!holder.value!.cancelAndWait(timeout: .zero), "the handler is still running")
    mayLeave.open()
    #expect(holder.value!.cancelAndWait(timeout: .seconds(60)))
    let calls = handled.load(ordering: .relaxed)
    #expect(calls == 1)
  }

  @Test(
    "it waits for a deinit that the end of the call has caused",
    arguments: StorageStrategy.allCases)
  func waitsForTheDeinitOfTheCall(storage: StorageStrategy) {
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let inside = Gate("inside the callback")
    let dropped = Gate("the last reference is dropped")
    let dying = Gate("inside the deinit")
    let mayDie = Gate("the deinit may end")
    let tracker = LifetimeTracker()
    let holder = Holder<ActingObserver>(
      ActingObserver(
        tracker: tracker,
        onDeinit: {
          dying.open()
          mayDie.wait()
        }))
    let registration = hub.add(holder.value!)
    runConcurrently {
      hub.forEach { _ in
        inside.open()
        dropped.wait()
      }
    } and: {
      inside.wait()
      holder.value = nil
      dropped.open()
      dying.wait()
      #expect(!registration.cancelAndWait(timeout: .milliseconds(1)))
      mayDie.open()
      #expect(registration.cancelAndWait(timeout: .seconds(60)))
      #expect(tracker.live == 0)
    }
  }

  @Test(
    "two callbacks on two threads can each cancel themselves and wait",
    arguments: StorageStrategy.allCases)
  func twoThreadsCancelThemselves(storage: StorageStrategy) {
    let tracker = LifetimeTracker()
    let outcomes = race(
      rounds: 300,
      setUp: { () -> Pair in Pair(storage: storage, tracker: tracker) },
      actors: [
        { $0.cancelOneselfAndWait(0) },
        { $0.cancelOneselfAndWait(1) },
      ],
      outcome: { $0.observers.map(\.calls) })
    #expect(Set(outcomes.keys) == [[1, 1]])
    #expect(tracker.live == 0)
  }
}

private final class Pair: Sendable {
  let observers: [RecordingObserver]
  private let hubs: [MulticastDelegate<any Observing>]
  private let registrations: [Registration<any Observing>]

  init(storage: StorageStrategy, tracker: LifetimeTracker) {
    let observers = (0..<2).map { RecordingObserver($0, tracker: tracker) }
    let hubs = observers.map { _ in MulticastDelegate<any Observing>(storage: storage) }
    registrations = zip(hubs, observers).map { $0.add($1) }
    self.observers = observers
    self.hubs = hubs
  }

  func cancelOneselfAndWait(_ index: Int) {
    hubs[index].forEach { observer in
      observer.receive(1)
      #expect(registrations[index].cancelAndWait(timeout: .seconds(60)))
    }
  }
}
