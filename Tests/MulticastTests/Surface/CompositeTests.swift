// `forEach` of a hub is under test here, not that of `Sequence`.

import Multicast
import MulticastTestSupport
import Testing

/// A delegate that is itself a hub of delegates.
private final class Composite: Observing {
  let id: Int
  let parts: MulticastDelegate<any Observing>

  init(_ id: Int, storage: StorageStrategy) {
    self.id = id
    parts = MulticastDelegate(storage: storage)
  }

  func receive(_ value: Int) {
    parts.invoke { $0.receive(value) }
  }
}

@Suite("A delegate that forwards to a hub of its own")
struct CompositeTests {
  @Test("it reaches every part, in order", arguments: StorageStrategy.allCases)
  func reachesEveryPart(storage: StorageStrategy) {
    let journal = Journal()
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let composites = [Composite(1, storage: storage), Composite(2, storage: storage)]
    let leaves = (0..<5).map { RecordingObserver($0, journal: journal) }
    hub += leaves[0]
    hub += composites[0]
    hub += leaves[4]
    composites[0].parts += leaves[1]
    composites[0].parts += composites[1]
    composites[0].parts += leaves[3]
    composites[1].parts += leaves[2]
    hub.invoke { $0.receive(1) }
    #expect(journal.take() == [0, 1, 2, 3, 4])
  }

  @Test("a composite that dies takes its strong parts with it", arguments: StorageStrategy.allCases)
  func diesWithItsStrongParts(storage: StorageStrategy) {
    let tracker = LifetimeTracker()
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let composite = Holder(Composite(1, storage: storage))
    composite.value!.parts.add(RecordingObserver(2, tracker: tracker), ownership: .strong)
    hub += composite.value!
    hub.forEach { delegate in
      composite.value = nil
      delegate.receive(1)
      #expect(tracker.live == 1, "as long as the call")
    }
    #expect(tracker.live == 0)
    #expect(hub.isEmpty)
  }

  @Test("nested deeper than any record of a thread", arguments: StorageStrategy.allCases)
  func nestedDeeply(storage: StorageStrategy) {
    let depth = 60
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let composites = (0..<depth).map { Composite($0, storage: storage) }
    let leaf = RecordingObserver()
    let registration = hub.add(composites[0])
    for (outer, inner) in zip(composites, composites.dropFirst()) { outer.parts += inner }
    composites[depth - 1].parts += leaf
    let canceller = ActingObserver(onReceive: { _, _ in
      #expect(registration.cancelAndWait(timeout: .seconds(60)), "we are inside its callback")
    })
    composites[depth - 1].parts += canceller
    hub.invoke { $0.receive(1) }
    #expect(leaf.calls == 1)
    #expect(hub.isEmpty)
  }
}
