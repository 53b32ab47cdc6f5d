import Multicast
import MulticastTestSupport
import Testing

/// An error that is an object, and writes its id down when it is called.
final class ErrorObject: Error, Listening {
  let id: Int
  private let journal: Journal?
  private let tracker: LifetimeTracker?

  init(_ id: Int, journal: Journal? = nil, tracker: LifetimeTracker? = nil) {
    self.id = id
    self.journal = journal
    self.tracker = tracker
    tracker?.noteCreation()
  }

  deinit { tracker?.noteDestruction() }

  func receive(_ value: Int) { journal?.record(id) }
}

@Suite("A hub of any Error recognises errors that are objects")
struct ErrorIdentityTests {
  @Test("by identity, whichever box they are in", arguments: StorageStrategy.allCases)
  func byIdentity(storage: StorageStrategy) {
    let tracker = LifetimeTracker()
    let journal = Journal()
    do {
      let hub = MulticastDelegate<any Error>(storage: storage)
      var first: ErrorObject? = ErrorObject(1, journal: journal, tracker: tracker)
      let second = ErrorObject(2, journal: journal, tracker: tracker)
      hub.add(first!, ownership: .strong)
      hub.add(second, ownership: .strong)
      hub.add(first!, ownership: .strong)
      #expect(hub.count == 2)
      #expect(hub.contains(first!))
      #expect(hub[second] == 1)
      hub.forEach { ($0 as? any Listening)?.receive(1) }
      hub.invoke(as: (any Listening).self) { $0.receive(1) }
      #expect(journal.take() == [1, 2, 1, 2])
      first = nil
      #expect(tracker.live == 2, "the hub keeps the error")
      hub.forEach { ($0 as? any Listening)?.receive(1) }
      #expect(journal.take() == [1, 2])
      #expect(hub.remove(second))
      #expect(!hub.contains(second))
      #expect(hub.remove(hub[0]!))
      #expect(tracker.live == 1)
    }
    #expect(tracker.live == 0)
  }

  @Test("a protocol that refines Error and AnyObject takes them weakly")
  func aRefinedProtocol() {
    let tracker = LifetimeTracker()
    let hub = MulticastDelegate<any Error & Listening>()
    var error: ErrorObject? = ErrorObject(1, tracker: tracker)
    hub.add(error!)
    hub.add(error!)
    #expect(hub.count == 1)
    #expect(hub.contains(error!))
    error = nil
    #expect(tracker.live == 0)
    #expect(hub.isEmpty)
  }
}
