internal import Synchronization

/// The last calls of handlers that get a limited number of events, while they run.
///
/// Such a call ends its subscription when it begins, and so takes its entry out of the registry. A
/// flush finds it here.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class LastCalls: @unchecked Sendable {
  // Sendable: `calls` is accessed inside `lock` alone, and `count` is atomic.

  static let shared = LastCalls()

  private struct Call {
    let entry: Entry
    /// What counts the calls of the handler.
    let limit: ObjectIdentifier
    /// The registry of the entry, and what stands for its hub. The entry keeps both.
    let registry: ObjectIdentifier
    let hub: ObjectIdentifier

    func belongs(to home: ObjectIdentifier) -> Bool { registry == home || hub == home }
  }

  /// Guards the calls. What is removed is released outside: it may be the last reference.
  private let lock = Lock()
  /// By the addresses of their entries.
  private var calls: [UnsafeRawPointer: Call] = [:]
  /// The number of calls. Stored inside the lock.
  // Relaxed, except in `begin` and `forget`: a thread that does not find an entry in its registry
  // has synchronised with the one that removed it, which added the call before.
  private let count = Atomic<Int>(0)

  private init() {}

  /// Adds a call that is about to end the subscription of `entry`.
  ///
  /// - Parameters:
  ///   - limit: what counts the calls of the handler.
  ///   - registry: that of the entry.
  ///   - hub: see `Registry.hub`.
  /// - Returns: whether it was added; not if another limit of the same handler has added one, nor
  ///   if the subscription has ended.
  func begin(
    _ entry: Entry, of limit: AnyObject, in registry: Registry, of hub: AnyObject
  ) -> Bool {
    let call = Call(
      entry: entry, limit: ObjectIdentifier(limit), registry: ObjectIdentifier(registry),
      hub: ObjectIdentifier(hub))
    return lock.withLock {
      guard calls[entry.identity] == nil else { return false }
      // Sequentially consistent, both, as the load in `forget`: either a thread that has removed
      // the entry finds the call, or this finds the entry removed.
      count.store(calls.count + 1, ordering: .sequentiallyConsistent)
      let state = entry.head.pointee.state.load(ordering: .sequentiallyConsistent)
      if EntryHead.isActive(state) { calls[entry.identity] = call }
      count.store(calls.count, ordering: .relaxed)
      return EntryHead.isActive(state)
    }
  }

  /// Removes the call that `limit` has added, if there is one: it has returned.
  func end(_ entry: UnsafeRawPointer, of limit: AnyObject) {
    remove(entry) { $0.limit == ObjectIdentifier(limit) }
  }

  /// The entries with a last call of a registry, or of a hub.
  func entries(of home: ObjectIdentifier) -> [Entry] {
    guard count.load(ordering: .relaxed) > 0 else { return [] }
    return lock.withLock { calls.values.filter { $0.belongs(to: home) }.map(\.entry) }
  }

  /// Does not make a flush wait for the call of an entry any more: its subscription was cancelled.
  func forget(_ entry: UnsafeRawPointer) {
    // Sequentially consistent: see `begin`.
    guard count.load(ordering: .sequentiallyConsistent) > 0 else { return }
    remove(entry) { _ in true }?.entry.mailbox?.abandon()
  }

  /// Whether a last call of an entry is running, or about to begin.
  func contains(_ entry: UnsafeRawPointer) -> Bool {
    // Relaxed: the thread that has added a call cancels the entry itself.
    guard count.load(ordering: .relaxed) > 0 else { return false }
    return lock.withLock { calls[entry] != nil }
  }

  /// As ``forget(_:)``, of every entry of a registry, or of a hub.
  func forget(allOf home: ObjectIdentifier) {
    for entry in entries(of: home) { forget(entry.identity) }
  }

  /// - Returns: the call that was removed, perhaps the last reference to its entry.
  @discardableResult
  private func remove(_ entry: UnsafeRawPointer, if isRemoved: (Call) -> Bool) -> Call? {
    lock.withLock {
      guard let call = calls[entry], isRemoved(call) else { return nil }
      calls[entry] = nil
      count.store(calls.count, ordering: .relaxed)
      return call
    }
  }
}

extension Registry {
  /// What stands for the hub whose flush waits for the handlers: a hub of topics has many
  /// registries, which leave it with their last subscriber. Read by a thread that holds the hub: a
  /// topic that has left does not know it any more.
  var hub: AnyObject { extras?.sharedInspection ?? self }
}
