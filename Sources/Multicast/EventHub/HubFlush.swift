internal import Dispatch

/// A flush of one or more hubs: waits until every event that was sent before is handled.
///
/// An event passes through up to three buffers, and a flush waits for one after the other: a sender
/// that finds another one delivering leaves its event to that one, first in a hub with one order,
/// then in a buffer that coalesces; and finally the event waits in the mailbox of each subscriber.
struct HubFlush<Event: Sendable>: Sendable {
  /// The parts of a hub that may outlive it.
  struct Target: Sendable {
    let registry: Registry
    let sequencer: EventSequencer<Event>?

    init(_ hub: EventHub<Event>) {
      self.init(hub.registry, hub.sequencer)
    }

    init(_ registry: Registry, _ sequencer: EventSequencer<Event>?) {
      self.registry = registry
      self.sequencer = sequencer
    }
  }

  let targets: [Target]
  /// The registry, or the hub, whose last calls belong to the flush: see ``LastCalls``.
  private let home: ObjectIdentifier?

  init(targets: [Target], lastCallsOf home: AnyObject? = nil) {
    self.targets = targets
    self.home = home.map { ObjectIdentifier($0) }
  }

  private enum Stage: CaseIterable {
    case sequencers
    case coalescers
    case mailboxes
  }

  /// Suspends until everything is handled. Cancellation does not end the wait.
  func wait() async {
    for stage in Stage.allCases { await begin(stage, FlushingThread()).wait() }
  }

  /// Blocks the thread until everything is handled, or until `timeout` has passed.
  ///
  /// - Parameter serve: calls handlers that this thread would call only after its callback.
  /// - Returns: whether everything was handled.
  func wait(timeout: Duration, serve: () -> Void) -> Bool {
    let thread = FlushingThread()
    let deadline = DispatchTime.now() + DispatchTimeInterval(timeout)
    return thread.blocked {
      for stage in Stage.allCases {
        if stage == .mailboxes && thread.isInCallback { serve() }
        let latch = begin(stage, thread)
        guard latch.wait(until: deadline) else {
          withdraw(latch)
          return false
        }
      }
      return true
    }
  }

  /// A latch that reaches zero when the stage is complete. A new thread may begin each stage.
  private func begin(_ stage: Stage, _ thread: FlushingThread) -> FlushLatch {
    let latch = FlushLatch()
    for target in targets {
      switch stage {
      case .sequencers: target.sequencer?.flush(latch, by: thread)
      case .coalescers:
        for (coalescer, mailbox) in target.coalescers
        where !thread.excludes(mailbox) && !thread.isInside(mailbox) { coalescer.flush(latch) }
      case .mailboxes: target.registry.addPending(to: latch, excluding: thread.excludes)
      }
    }
    // After the registries: an entry may be in both, but not in neither.
    if stage == .mailboxes { latch.add(lastCalls, excluding: thread.excludes) }
    return latch
  }

  private var lastCalls: [Entry] { home.map { LastCalls.shared.entries(of: $0) } ?? [] }

  /// Ends the flush of a latch whose time ran out.
  private func withdraw(_ latch: FlushLatch) {
    for target in targets {
      target.sequencer?.withdraw(latch)
      for (coalescer, _) in target.coalescers { coalescer.withdraw(latch) }
      target.registry.withdraw(latch)
    }
    for entry in lastCalls { entry.mailbox?.withdraw(latch) }
  }
}

extension HubFlush.Target {
  /// The coalescers of the subscribers whose owners are alive, with their mailboxes.
  fileprivate var coalescers: [(Coalescer<Event>, Mailbox)] {
    var coalescers: [(Coalescer<Event>, Mailbox)] = []
    registry.forEachValue(Subscriber<Event>.self, access: .read) { subscriber in
      if let pipeline = subscriber.pipeline, let coalescer = pipeline.coalescer,
        let mailbox = pipeline.mailbox
      {
        coalescers.append((coalescer, mailbox))
      }
      return true
    }
    return coalescers
  }
}
