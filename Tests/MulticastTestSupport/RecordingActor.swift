/// A delegate that is an actor.
public actor RecordingActor: Observing, Listening {
  public nonisolated let id: Int
  private let journal: Journal?
  private let tracker: LifetimeTracker?

  public init(_ id: Int = 0, journal: Journal? = nil, tracker: LifetimeTracker? = nil) {
    self.id = id
    self.journal = journal
    self.tracker = tracker
    tracker?.noteCreation()
  }

  deinit {
    tracker?.noteDestruction()
  }

  public nonisolated func receive(_ value: Int) {
    journal?.record(id)
  }
}
