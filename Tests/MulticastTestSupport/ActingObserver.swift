/// A delegate that runs closures when it is called and in its `deinit`.
public final class ActingObserver: Observing, Listening {
  public let id: Int
  private let tracker: LifetimeTracker?
  private let onReceive: @Sendable (ActingObserver, Int) -> Void
  private let onDeinit: @Sendable () -> Void

  public init(
    _ id: Int = 0, tracker: LifetimeTracker? = nil,
    onReceive: @escaping @Sendable (ActingObserver, Int) -> Void = { _, _ in },
    onDeinit: @escaping @Sendable () -> Void = {}
  ) {
    self.id = id
    self.tracker = tracker
    self.onReceive = onReceive
    self.onDeinit = onDeinit
    tracker?.noteCreation()
  }

  deinit {
    onDeinit()
    tracker?.noteDestruction()
  }

  public func receive(_ value: Int) {
    onReceive(self, value)
  }
}
