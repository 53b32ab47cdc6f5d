// `forEach` of a hub is under test here, not that of `Sequence`.

import MulticastTestSupport
import Testing

@testable import Multicast

@Suite("Memory")
struct MemoryTests {
  @Test(
    "the memory kept for the dead is bounded by the living", arguments: StorageStrategy.allCases,
    [0, 1, 100])
  func memoryForTheDeadIsBounded(storage: StorageStrategy, living: Int) {
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let residents = (0..<living).map { RecordingObserver($0) }
    for resident in residents { hub += resident }
    var most = 0
    for id in 0..<10_000 {
      hub += RecordingObserver(id)  // Without remove, without an invocation.
      most = max(most, hub.capacity)
    }
    #expect(most <= max(16, 4 * living))
    #expect(hub.registeredEntries <= max(16, 4 * living))
    #expect(hub.count == living)
  }

  @Test(
    "a strong delegate that is removed is released promptly, in a hub of many too",
    arguments: StorageStrategy.allCases)
  func removedStrongDelegateIsReleasedPromptly(storage: StorageStrategy) {
    let tracker = LifetimeTracker()
    let hub = MulticastDelegate<any Observing>(storage: storage)
    var registrations = (0..<2_000).map {
      hub.add(RecordingObserver($0, tracker: tracker), ownership: .strong)
    }
    var generator = SplitMix64(seed: SplitMix64.runSeed)
    var expected = 2_000
    while let index = registrations.indices.randomElement(using: &generator) {
      registrations.swapAt(index, registrations.count - 1)
      let registration = registrations.removeLast()
      registration.cancel()
      expected -= 1
      guard tracker.live != expected else { continue }
      Issue.record("\(tracker.live) live, \(expected) registered")
      return
    }
    #expect(tracker.live == 0)
  }

  @Test(
    "one that is removed while it is called is released when the invocation ends",
    arguments: StorageStrategy.allCases)
  func removedDuringAnInvocationIsReleasedAtItsEnd(storage: StorageStrategy) {
    let tracker = LifetimeTracker()
    let hub = MulticastDelegate<any Observing>(storage: storage)
    for id in 0..<3 { hub.add(RecordingObserver(id, tracker: tracker), ownership: .strong) }
    hub.forEach { delegate in
      hub.remove(delegate)
      delegate.receive(1)  // Alive, though only the invocation holds it.
    }
    #expect(tracker.live == 0)
  }

  @Test("adding and removing leaves no slots behind", arguments: StorageStrategy.allCases)
  func addingAndRemovingLeavesNothing(storage: StorageStrategy) {
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let delegates = (0..<1_000).map { RecordingObserver($0) }
    for _ in 0..<3 {
      for delegate in delegates { hub += delegate }
      #expect(hub.capacity >= 1_000)
      #expect(hub.capacity <= 4_000)
      for delegate in delegates { hub -= delegate }
      #expect(hub.capacity <= 32)
    }
    // A window that slides needs slots for the window alone.
    for (index, delegate) in delegates.enumerated() {
      hub += delegate
      if index >= 10 { hub -= delegates[index - 10] }
      #expect(hub.capacity <= 64)
    }
  }
}
