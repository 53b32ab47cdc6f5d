/// The extras of the registry of a ``MulticastActor``.
final class ActorExtras: RegistryExtras, @unchecked Sendable {
  // Sendable: it adds nothing that changes.

  private let hubName: String?
  private let calls: TaskCalls
  private let snapshots: SnapshotCache

  init(_ name: String?, _ calls: TaskCalls, _ snapshots: SnapshotCache) {
    self.calls = calls
    self.snapshots = snapshots
    hubName = name
    super.init()
  }

  override var name: String? { hubName }

  override var taskCalls: CallTracking? { calls }

  override func entriesChanged(by difference: Int) { snapshots.invalidate() }
}
