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
    let registry: ObjectIdentifier
    let hub: ObjectIdentifier
  }

  /// Guards the calls. What is removed is released outside: it may be the last reference.
  private let lock = Lock()
  /// By what counts the calls of the handler.
  private var calls: [ObjectIdentifier: Call] = [:]
  /// The number of calls. Stored inside the lock.
  // Relaxed: a thread that does not find an entry in its registry has synchronised with the one that
  // removed it, which added the call before.
  private let count = Atomic<Int>(0)

  private init() {}

  /// Adds a call that is about to end the subscription of `entry`.
  ///
  /// - Parameters:
  ///   - key: what counts the calls of the handler.
  ///   - registry: that of the entry.
  func begin(_ key: ObjectIdentifier, _ entry: Entry, in registry: Registry) {
    let call = Call(entry: entry, registry: ObjectIdentifier(registry), hub: registry.hub)
    lock.withLock {
      calls[key] = call
      count.store(calls.count, ordering: .relaxed)
    }
  }

  /// Removes a call that has returned.
  func end(_ key: ObjectIdentifier) {
    let call = lock.withLock { () -> Call? in
      defer { count.store(calls.count, ordering: .relaxed) }
      return calls.removeValue(forKey: key)
    }
    withExtendedLifetime(call) {}
  }

  /// The entries with a last call of a hub.
  func entries(of hub: ObjectIdentifier) -> [Entry] {
    guard count.load(ordering: .relaxed) > 0 else { return [] }
    return lock.withLock { calls.values.filter { $0.hub == hub }.map(\.entry) }
  }

  /// Does not make a flush wait for the call of an entry any more: its subscription was cancelled.
  func forget(_ entry: UnsafeMutableRawPointer) {
    forget { Unmanaged.passUnretained($0.entry).toOpaque() == entry }
  }

  /// As ``forget(_:)``, of every entry of a registry.
  func forget(allOf registry: Registry) {
    forget { $0.registry == ObjectIdentifier(registry) }
  }

  /// As ``forget(_:)``, of every entry of a hub.
  func forget(allOf hub: ObjectIdentifier) {
    forget { $0.hub == hub }
  }

  private func forget(where isCancelled: (Call) -> Bool) {
    guard count.load(ordering: .relaxed) > 0 else { return }
    let cancelled = lock.withLock { () -> [ObjectIdentifier: Call] in
      let cancelled = calls.filter { isCancelled($0.value) }
      for key in cancelled.keys { calls[key] = nil }
      count.store(calls.count, ordering: .relaxed)
      return cancelled
    }
    withExtendedLifetime(cancelled) {}
  }
}

extension Registry {
  /// What stands for the hub whose flush waits for the handlers: a hub of topics has many
  /// registries, which leave it with their last subscriber.
  var hub: ObjectIdentifier {
    extras?.sharedInspection.map { ObjectIdentifier($0) } ?? ObjectIdentifier(self)
  }
}
