import Multicast
import MulticastTestSupport
import Testing

/// A value that cannot be copied, and that a tracker counts.
private struct Ticket: ~Copyable {
  let id: Int
  private let tracker: LifetimeTracker

  init(_ id: Int, _ tracker: LifetimeTracker) {
    self.id = id
    self.tracker = tracker
    tracker.noteCreation()
  }

  deinit { tracker.noteDestruction() }
}

@Suite("Results that cannot be copied")
struct MoveOnlyResultTests {
  private let delegates = (0..<4).map { RecordingObserver($0) }
  private let tracker = LifetimeTracker()

  @Test("firstResult returns the first, and makes no other", arguments: StorageStrategy.allCases)
  func first(storage: StorageStrategy) {
    let hub = MulticastDelegate<any Observing>(storage: storage)
    for delegate in delegates { hub.add(delegate) }
    do {
      let ticket = hub.firstResult { $0.id >= 1 ? Ticket($0.id, tracker) : nil }
      switch consume ticket {
      case .some(let ticket): #expect(ticket.id == 1)
      case .none: Issue.record("there was a result")
      }
      let none: Ticket? = hub.firstResult { _ in nil }
      switch consume none {
      case .some: Issue.record("there was no result")
      case .none: break
      }
    }
    #expect(tracker.created == 1)
    #expect(tracker.live == 0)
  }

  @Test(
    "lastResult returns the last, and destroys the earlier ones",
    arguments: StorageStrategy.allCases)
  func last(storage: StorageStrategy) {
    let hub = MulticastDelegate<any Observing>(storage: storage)
    for delegate in delegates { hub.add(delegate) }
    do {
      let ticket = hub.lastResult { $0.id <= 2 ? Ticket($0.id, tracker) : nil }
      switch consume ticket {
      case .some(let ticket): #expect(ticket.id == 2)
      case .none: Issue.record("there was a result")
      }
      #expect(tracker.created == 3)
    }
    #expect(tracker.live == 0)
  }

  @Test("an error destroys the results before it", arguments: StorageStrategy.allCases)
  func failure(storage: StorageStrategy) {
    struct Veto: Error {}
    let hub = MulticastDelegate<any Observing>(storage: storage)
    for delegate in delegates { hub.add(delegate) }
    do throws(Veto) {
      _ = try hub.lastResult { delegate throws(Veto) -> Ticket? in
        if delegate.id == 2 { throw Veto() }
        return Ticket(delegate.id, tracker)
      }
      Issue.record("nothing was thrown")
    } catch {}
    #expect(tracker.created == 2)
    #expect(tracker.live == 0)
  }
}
