import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@Suite("A call that begins while another one is being enqueued does not overtake it")
struct NestedCallOrderTests {
  /// Invokes the hub when the last call that has it is dropped.
  private final class Dropped: Sendable {
    private let action: @Sendable () -> Void

    init(_ action: @escaping @Sendable () -> Void) { self.action = action }

    deinit { action() }
  }

  @Test("in the deinit of what a full buffer drops, for delegates on an actor", arguments: [1, 70])
  @MainActor func dropped(count: Int) async {
    let hub = MulticastDelegate<any Observing>()
    let journals = (0..<count).map { _ in Journal() }
    for journal in journals {
      let delegate = ActingObserver { _, value in journal.record(value) }
      hub.add(delegate, ownership: .strong, on: .main)
    }
    let queue = DispatchQueue(label: "suspended")
    queue.suspend()
    hub.add(RecordingObserver(), ownership: .strong, on: queue, buffering: .latest)
    do {
      let dropped = Dropped { [weak hub] in hub?.invoke { $0.receive(3) } }
      hub.invoke { delegate in withExtendedLifetime(dropped) { delegate.receive(1) } }
    }
    // Now the queue alone has the first call.
    await eventually { journals.allSatisfy { $0.entries == [1] } }
    await Task.yield()
    hub.invoke { $0.receive(2) }
    queue.resume()
    await hub.flush()
    for journal in journals { #expect(journal.take() == [1, 2, 3]) }
  }
}
