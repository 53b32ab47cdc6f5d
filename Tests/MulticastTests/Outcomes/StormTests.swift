// `forEach` of a hub is under test here, not that of `Sequence`.

import Multicast
import MulticastTestSupport
import Synchronization
import Testing

/// Every operation at once, with closed-form counts and a leak count at the end.
@Suite("Storms", .serialized)
struct StormTests {
  @Test(
    "every thread adds, invokes, cancels and drops", arguments: StorageStrategy.allCases,
    DuplicatePolicy.allCases)
  func everythingAtOnce(storage: StorageStrategy, duplicates: DuplicatePolicy) {
    let (threads, rounds) = (4, 300)
    let tracker = LifetimeTracker()
    let resident = RecordingObserver(tracker: tracker)
    let invocations = Atomic<Int>(0)
    do {
      let hub = MulticastDelegate<any Observing>(storage: storage, duplicates: duplicates)
      hub += resident
      let barrier = StartBarrier(threads)
      let seed = SplitMix64.runSeed
      runThreads(threads) { index in
        var generator = SplitMix64(seed: seed &+ UInt64(index))
        barrier.arriveAndWait()
        for round in 0..<rounds {
          let mine = RecordingObserver(round, tracker: tracker)
          let registration = hub.add(mine, ownership: generator.next() & 1 == 0 ? .weak : .strong)
          let called = hub.invoke { $0.receive(1) }
          precondition(called >= 2, "the resident and the one that was just added")
          precondition(mine.calls >= 1)
          invocations.add(1, ordering: .relaxed)
          switch generator.next() % 4 {
          case 0: registration.cancel()
          case 1:
            precondition(registration.cancelAndWait(timeout: .seconds(60)))
            mine.poison()
          case 2: hub.remove(mine)
          default:
            // A weak one is forgotten, a strong one has to go by itself.
            if generator.next() & 1 == 0 { hub.prune() }
            registration.cancel()
          }
        }
      }
      #expect(hub.map(\.id) == [0])
      #expect(hub.registeredEntries == 1)
    }
    let count = invocations.load(ordering: .relaxed)
    #expect(count == threads * rounds)
    #expect(resident.calls == count)
    #expect(tracker.lateCalls == 0)
    #expect(tracker.created == threads * rounds + 1)
    #expect(tracker.live == 1)
  }

  @Test(
    "delegates that die on one thread while others call them", arguments: StorageStrategy.allCases)
  func dyingWhileCalled(storage: StorageStrategy) {
    let generations = 300
    let tracker = LifetimeTracker()
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let finished = Atomic<Bool>(false)
    runThreads(3) { index in
      if index == 0 {
        for generation in 0..<generations {
          let crowd = (0..<20).map { RecordingObserver($0, tracker: tracker) }
          for delegate in crowd { hub += delegate }
          if generation.isMultiple(of: 3) { hub -= crowd[generation % 20] }
        }
        finished.store(true, ordering: .releasing)
      } else {
        while !finished.load(ordering: .acquiring) { hub.forEach { $0.receive(1) } }
      }
    }
    #expect(hub.isEmpty)
    #expect(tracker.created == generations * 20)
    #expect(tracker.live == 0)
    hub.prune()
    #expect(hub.registeredEntries == 0)
  }
}
