// Handlers of topics that receive positions.
//
//     sender ──▶ log of all topics ◀───────────────── reads ─┐
//        └─────▶ signals ──▶ private hub ──▶ drain ──▶ follower ──▶ handler
//
// The private hub has one order and one subscriber, which follows: see `EventHub+Following`. So
// handlers of topics are called, blocked, flushed and cancelled as those of an `EventHub` are.
//
// Ownership: the entry of the private hub owns the follower, which owns the reader, its signals and
// the hub: a cycle until the entry is removed, by a cancellation, because its owner is gone, or
// after what was read last. The removal ends the subscriptions to the topics.

/// A handler of topics that receives positions, and the place in the log that it has reached.
///
/// ## Thread safety
/// The thread that drains the mailbox. Any thread may release it.
final class TopicFollower<Event: Sendable>: Follower, @unchecked Sendable {
  // Sendable: see "Thread safety"; what hands the mailbox from thread to thread hands this over
  // too.

  let progress = ReceiverProgress()
  private let reader: TopicLogReader
  private let target: FollowerSignals
  private let handler: @Sendable (PositionedTopicEvent<Event>) -> Void
  private let callPositioned: PositionedTopicEvent<Event>.Call
  /// What was read, and found the handler blocked.
  // SAFETY, of unchecked exclusivity: see "Thread safety"; and no access runs other code.
  @exclusivity(unchecked) private var held: FollowedElement?
  /// What comes from an external log, before what is read.
  private var external: ExternalReading<Event>
  /// Whether an external log is asked before anything is read.
  private lazy var isElsewhere = reader.hasClaim

  init(
    _ reader: TopicLogReader, _ target: FollowerSignals, _ retention: TopicRetention<Event>,
    _ handler: @escaping @Sendable (PositionedTopicEvent<Event>) -> Void
  ) {
    self.reader = reader
    self.target = target
    self.handler = handler
    callPositioned = retention.callPositioned
    external = ExternalReading(retention)
  }

  deinit {
    reader.stopReading()
  }

  /// The most elements that the handler gets before others run.
  private static var share: Int { 64 }

  func deliver(to head: UnsafeMutablePointer<EntryHead>) {
    progress.add(calls: Self.share, isComplete: deliverShare(to: head))
  }

  /// - Returns: whether it has delivered everything that the signal stands for.
  private func deliverShare(to head: UnsafeMutablePointer<EntryHead>) -> Bool {
    // Before the read, which then finds what was sent before the end.
    let mustFinish = target.mustFinish
    var count = 0
    while count < Self.share, let element = held.take() ?? next() {
      // After the read, which may find what was sent during a block.
      guard head.pointee.isActiveAndUnblocked else {
        held = element
        break
      }
      switch element {
      case .event(let item): callPositioned(item, reader.epoch, handler)
      case .other(let call): call()
      }
      count += 1
    }
    // The answer of the log has a signal of its own, which stands for what has come until then.
    if isElsewhere && isWaiting {
      reader.resetGoal()
      return true
    }
    guard held == nil && !isElsewhere && reader.hasReachedGoal else { return false }
    reader.resetGoal()
    guard mustFinish, head.pointee.isActiveAndUnblocked else { return true }
    if reader.hasRead || reader.read(atMost: Self.share) { return false }
    target.finish()
    return true
  }

  /// The next event or missing range up to the goal, if there is one now.
  private func next() -> FollowedElement? {
    while true {
      if isElsewhere {
        if let element = nextElsewhere() { return element }
        if isElsewhere { return nil }
      }
      if reader.hasReachedGoal { return nil }
      reader.readToGoal(atMost: Self.share)
      switch reader.nextRead() {
      case .event(let item): return .event(item)
      case .missed(let range): return report(range)
      case .elsewhere(let range): begin(range)
      case nil: return nil
      }
    }
  }

  // The rest is rare, and in functions of its own: each looks up the types that it uses.

  @inline(never)
  private func report(_ range: MissingEvents) -> FollowedElement {
    .other { [handler] in handler(PositionedTopicEvent(range)) }
  }

  @inline(never)
  private func begin(_ range: ExternalRange) {
    external.begin(range)
    isElsewhere = true
  }

  /// Whether an external log was asked, and its answer was not taken.
  @inline(never)
  private var isWaiting: Bool { external.isWaiting }

  /// The next of what comes from an external log, which this asks if necessary.
  ///
  /// - Returns: `nil`: nothing now, or all was returned.
  @inline(never)
  private func nextElsewhere() -> FollowedElement? {
    // The `deinit` of its events cannot use `external`: one thread drains the mailbox.
    var remains = ExternalReading<Event>.Remains()
    while !external.isWaiting || external.takeAnswer(for: reader, &remains) {
      if let element = external.next() { return .other { [handler] in handler(element) } }
      let target = target
      guard external.ask(for: reader, &remains, whenAnswered: { target.signal() }) else {
        isElsewhere = false
        return nil
      }
    }
    return nil
  }
}

/// What a handler of topics receives next: an event, or something else, which a closure passes on.
enum FollowedElement {
  case event(TopicItem)
  case other(() -> Void)
}

/// Tells a handler of topics to read, through the hub in which it is the only subscriber.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class FollowerSignals: ReadTarget, @unchecked Sendable {
  // Sendable: `hub` and `reader` are set before another thread has the object; `ending` is accessed
  // inside `lock` alone.

  private(set) var hub: EventHub<Void>! = nil
  /// Set before the handler is added, which keeps it.
  weak var reader: TopicLogReader?
  /// Guards `ending`. The hub is called outside.
  private let lock = Lock()
  private var ending: (reason: SubscriptionEnd, failure: (any Error)?)?

  init(_ storage: StorageStrategy, _ name: String?) {
    let signals = UnownedReference(self)
    hub = EventHub(
      ordering: .total, storage: storage, delivery: EventHub<Void>.delivery,
      state: DetailedState(name) { if $0 < 0 { signals.object?.reader?.signals.cancel() } })
  }

  func signal() { hub.send(()) }

  func end(_ reason: SubscriptionEnd, _ failure: (any Error)?) {
    let isFirst = lock.withLock {
      guard ending == nil else { return false }
      ending = (reason, failure)
      return true
    }
    guard isFirst else { return }
    perturb()
    // Otherwise the follower reads what is left, and finishes the hub.
    if reason == .cancelled { hub.cancelSubscriptions() } else { signal() }
  }

  var end: SubscriptionEnd? { lock.withLock { ending?.reason } }

  /// Whether the follower finishes the hub when it has read what is left. A cancellation removes
  /// the handler instead, perhaps a moment later.
  var mustFinish: Bool {
    guard let end else { return false }
    return end != .cancelled
  }

  var flushedHub: EventHub<Void>? { hub }

  /// The handler has received everything.
  func finish() {
    hub.finish(lock.withLock { ending?.failure })
  }
}

extension TopicHub where Topic == String {
  /// Adds a handler that reads the log.
  ///
  /// - Parameters:
  ///   - delivery: where the handler is called.
  ///   - owner: the object with which the subscription ends.
  ///   - origin: where it was made.
  ///   - makeRequest: what it asks for, with the origin and what measures the handler.
  func follow(
    _ delivery: HandlerDelivery<PositionedTopicEvent<Event>>,
    owner: (any AnyObject & Sendable)? = nil, origin: Origin,
    _ makeRequest: (Origin) -> PositionedRequest<Event>
  ) -> EventSubscription {
    var origin = origin
    if let plan = inspection.timing.current {
      origin.timer = CallTimer(plan, .handler, hub: name, origin)
    }
    let request = makeRequest(origin)
    let retention = requiredRetention
    let target = FollowerSignals(storage, name)
    let reader = makeReader(request, target)
    target.reader = reader
    return target.hub.follow(delivery, owner: owner, origin: origin) {
      TopicFollower(reader, target, retention, $0)
    } begin: {
      begin(reader, request)
      return false  // The reader learns of the end by its signals.
    }
  }
}
