internal import Synchronization

/// The number of events that a hub has refused, or dropped in its mailboxes, including mailboxes
/// that are gone; and a warning, once, of drops that waiting would have prevented.
final class DropCounter: Sendable {
  // Relaxed: statistics, from which no thread concludes anything about other memory.
  private let count = Atomic<Int>(0)
  private let unwaited = Atomic<Int>(0)
  private let refusals = Atomic<Int>(0)
  // Relaxed: guards no other data.
  private let hasWarned = Atomic(false)
  /// The type of the hub, for the warning; `nil`: none, because its senders cannot wait.
  private let hub: Any.Type?
  private let name: String?
  /// The counter of a hub that contains this one: it counts all drops, and warns once for all.
  private let parent: DropCounter?

  /// - Parameters:
  ///   - hub: its type; `nil` for a hub whose senders cannot wait.
  ///   - name: that of the hub.
  init(_ hub: Any.Type? = nil, _ name: String? = nil, parent: DropCounter? = nil) {
    self.hub = hub
    self.name = name
    self.parent = parent
  }

  /// - Parameter isUnwaited: whether the sender could have waited for space, but used `send`.
  func add(_ dropped: Int, isUnwaited: Bool) {
    count.wrappingAdd(dropped, ordering: .relaxed)
    parent?.count.wrappingAdd(dropped, ordering: .relaxed)
    guard isUnwaited else { return }
    unwaited.wrappingAdd(dropped, ordering: .relaxed)
    warnOnce()
  }

  /// Counts an event that the hub has refused.
  func refuse() { refusals.wrappingAdd(1, ordering: .relaxed) }

  /// The number of events dropped.
  var total: Int { count.load(ordering: .relaxed) }

  /// The number of events refused.
  var refused: Int { refusals.load(ordering: .relaxed) }

  /// Those of `total` that a plain `send` found a full `.suspend` buffer for.
  var totalUnwaited: Int { unwaited.load(ordering: .relaxed) }

  private func warnOnce() {
    if let parent { return parent.warnOnce() }
    guard let hub, !hasWarned.load(ordering: .relaxed),
      !hasWarned.exchange(true, ordering: .relaxed)
    else { return }
    warn(
      "\(messagePrefix(name)) \(hub) dropped an event: a buffer with the policy suspend was full, and send does not wait. "
        + "Use sendWaiting, or a policy that drops. (Reported once for each hub.)")
  }
}
