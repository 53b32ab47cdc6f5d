import Multicast
import MulticastTestSupport
import Synchronization

/// What the actors of one round share: a hub with one delegate in front, and a target.
final class RaceState: @unchecked Sendable {
  // Sendable: a property is changed by one actor alone and read by the others when the round is
  // over.
  private var ownHub: MulticastDelegate<any Observing>?
  /// The first in the hub, always alive.
  let front: RecordingObserver
  /// What the race is about; its id is 1.
  var target: RecordingObserver?
  var registration: Registration<any Observing>?
  var guests: [RecordingObserver] = []
  /// For a hub whose last reference goes away.
  let sharedHub = Holder<MulticastDelegate<any Observing>>(nil)
  /// What one actor has to report.
  var note = 0
  /// What the callbacks write.
  var scratch = 0

  private let steps = Atomic<Int>(0)
  private let tracker: LifetimeTracker

  init(_ storage: StorageStrategy, _ duplicates: DuplicatePolicy, _ tracker: LifetimeTracker) {
    self.tracker = tracker
    ownHub = MulticastDelegate(storage: storage, duplicates: duplicates)
    front = RecordingObserver(0, tracker: tracker)
    target = RecordingObserver(1, tracker: tracker)
    ownHub!.add(front)
  }

  var hub: MulticastDelegate<any Observing> { ownHub! }

  /// The hub; the state does not keep it any more.
  func takeHub() -> MulticastDelegate<any Observing> {
    ownHub.take()!
  }

  func addTarget(_ ownership: Ownership = .weak) {
    registration = hub.add(target!, ownership: ownership)
  }

  /// Takes some time: by default, longer than a cancellation.
  func linger(_ count: Int = 5_000) {
    for _ in 0..<count { steps.add(1, ordering: .relaxed) }
  }

  func makeGuests(_ count: Int) {
    guests = (0..<count).map { RecordingObserver(10 + $0, tracker: tracker) }
  }
}
