// `forEach` of a hub is under test here, not that of `Sequence`.

import MulticastTestSupport
import Testing

@testable import Multicast

@Suite("Promise 10: an invocation waits for no other invocation and for no writer")
struct NoWaitingLaws {
  @Test(
    "an invocation in progress delays no other operation",
    arguments: StorageStrategy.allCases, HubOperation.allCases)
  func anInvocationInProgressDelaysNothing(storage: StorageStrategy, operation: HubOperation) {
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let delegate = RecordingObserver()
    hub += delegate
    let inside = Gate("inside the callback")
    let done = Gate("the other operation is done")
    runConcurrently {
      hub.invoke { delegate in
        // The second invocation must not wait here.
        guard !inside.isOpen else { return }
        inside.open()
        done.wait()
        delegate.receive(1)
      }
    } and: {
      inside.wait()
      operation.run(on: hub)
      done.open()
    }
    #expect(delegate.calls == 1)
  }

  @Test("with waitFree, an invocation does not wait for a writer inside its critical section")
  func waitFreeInvocationDoesNotWaitForAWriter() throws {
    let hub = MulticastDelegate<any Observing>(storage: .waitFree)
    let delegates = (0..<3).map { RecordingObserver($0) }
    for delegate in delegates { hub += delegate }
    var dead: RecordingObserver? = RecordingObserver(9)
    hub += dead!
    dead = nil  // An invocation that finds it prunes.
    let storage = try #require(hub.registry.storage as? WaitFreeStorage)
    let inside = Gate("inside the critical section")
    let invoked = Gate("invoked")
    runConcurrently {
      storage.update { _ in
        inside.open()
        invoked.wait()
      }
    } and: {
      inside.wait()
      hub.forEach { $0.receive(1) }
      #expect(hub.invoke { $0.receive(1) } == 3)
      #expect(hub.count == 3)
      invoked.open()
    }
    #expect(delegates.map(\.calls) == [2, 2, 2])
    #expect(hub.prune() == 1)
  }
}
