import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@Suite("A flush does not wait any more for a handler whose subscription is cancelled")
struct CancelledFlushTests {
  /// How the subscription ends.
  enum Cancellation: CaseIterable {
    case subscription
    case hub
  }

  /// Starts a flush that waits for a running handler, cancels, and expects the end of the flush
  /// while the handler runs.
  private func expectEnd(
    of hub: EventHub<Int>, _ cancellation: Cancellation,
    _ subscribe: (_ began: Gate, _ mayEnd: Gate) -> EventSubscription
  ) async {
    let (began, mayEnd) = (Gate("began"), Gate("may end"))
    let subscription = subscribe(began, mayEnd)
    hub.send(1)
    await onOwnThread { began.wait() }
    let (isFlushing, isFlushed) = (Guarded(false), Guarded(false))
    let flush = Task {
      isFlushing.withLock { $0 = true }
      await hub.flush()
      isFlushed.withLock { $0 = true }
    }
    await eventually { isFlushing.withLock { $0 } }
    for _ in 0..<20 { await Task.yield() }
    #expect(!isFlushed.withLock { $0 })
    switch cancellation {
    case .subscription: subscription.cancel()
    case .hub: hub.cancelSubscriptions()
    }
    await flush.value
    mayEnd.open()
    await subscription.cancelAndWait()
  }

  @Test("on a queue", arguments: Cancellation.allCases, [false, true])
  func queue(_ cancellation: Cancellation, isOnce: Bool) async {
    let hub = EventHub<Int>()
    await expectEnd(of: hub, cancellation) { began, mayEnd in
      hub.subscribe(on: DispatchQueue(label: "queue"), options: isOnce ? [.once] : []) { _ in
        began.open()
        mayEnd.wait()
      }
    }
  }

  @Test("in a task", arguments: Cancellation.allCases, [false, true])
  func task(_ cancellation: Cancellation, isOnce: Bool) async {
    let hub = EventHub<Int>()
    await expectEnd(of: hub, cancellation) { began, mayEnd in
      hub.subscribe(options: isOnce ? [.once] : []) { _ async in
        began.open()
        await onOwnThread { mayEnd.wait() }
      }
    }
  }

  @Test("a flush waits for the last call of a handler that is called once")
  func once() async {
    let hub = EventHub<Int>()
    let (began, mayEnd) = (Gate("began"), Gate("may end"))
    let hasEnded = Guarded(false)
    let subscription = hub.subscribe(on: DispatchQueue(label: "queue"), options: [.once]) { _ in
      began.open()
      mayEnd.wait()
      hasEnded.withLock { $0 = true }
    }
    hub.send(1)
    await onOwnThread { began.wait() }
    await onOwnThread { #expect(!hub.flush(timeout: .zero)) }
    mayEnd.open()
    await hub.flush()
    #expect(hasEnded.withLock { $0 })
    withExtendedLifetime(subscription) {}
  }
}
