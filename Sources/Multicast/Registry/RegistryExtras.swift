/// What not every registry has: a name, the calls of tasks, observers, and an end.
///
/// Handles keep the registry, and so this.
///
/// ## Thread safety
/// Every operation may be called from any thread.
@usableFromInline
class RegistryExtras: EndingTopic, @unchecked Sendable {
  // Sendable: what changes is atomic; a subclass says why its own state may be shared.

  /// What the registry alone has been asked to observe.
  private let lazyInspection = LazyReference<HubInspection>()

  init() {}

  /// The name of the hub.
  var name: String? { nil }

  /// The calls of tasks, if the hub awaits its delegates.
  var taskCalls: CallTracking? { nil }

  /// Counts the dropped calls of a hub of delegates, also those of delegates that are gone; `nil`
  /// if no delegate ever had a buffer with a limit.
  var callDrops: DropCounter? { nil }

  /// As ``callDrops``, made if there is none yet; `nil` for other hubs.
  func callDropsOrNew() -> DropCounter? { nil }

  /// The error with which the hub has finished, if any.
  var failure: (any Error)? { nil }

  /// Called after each change, outside of any lock, with the change of the number of entries.
  func entriesChanged(by difference: Int) {}

  /// Called outside of any lock, with 1 before an entry is added, and with -1 after it was not, or
  /// has replaced another one.
  ///
  /// The sum of these, less what ``entriesChanged(by:)`` says was removed, is never less than the
  /// number of entries.
  func entriesExpected(by difference: Int) {}

  /// What the mailbox of an entry gets at the end of its last block, also if the hub has finished
  /// in the meantime; `nil` in most hubs.
  var envelopeAfterBlock: Envelope? { nil }

  /// Called outside of any lock at the end of the last block of an entry without a mailbox.
  func blockEnded(of entry: Entry) {}

  /// `nil` for a hub that is not that of one topic.
  var topicEnd: TopicEnd? { nil }

  func recordEnd(_ end: TopicEnd) {}

  /// What the registry observes together with others: those of a hub of topics.
  var sharedInspection: HubInspection? { nil }

  /// What the registry alone observes; `nil` if nothing.
  final var inspection: HubInspection? { lazyInspection.current }

  /// Whether anything observes the registry.
  final var isInspected: Bool { lazyInspection.unretained != nil || sharedInspection != nil }

  /// What the registry alone observes, made if there is nothing yet.
  final func inspectionOrNew() -> HubInspection {
    lazyInspection.current(or: HubInspection(name: name))
  }
}

/// The extras of a hub of delegates.
final class DelegateExtras: RegistryExtras, @unchecked Sendable {
  // Sendable: what it adds is constant, or atomic.

  private let hubName: String?
  private let lazyDrops = LazyReference<DropCounter>()

  init(_ name: String? = nil) {
    hubName = name
    super.init()
  }

  override var name: String? { hubName }

  override var callDrops: DropCounter? { lazyDrops.current }

  override func callDropsOrNew() -> DropCounter? { lazyDrops.current(or: DropCounter()) }
}
