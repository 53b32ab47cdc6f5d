internal import Synchronization

/// The role of delivering the events of one hub, as seen by threads that flush.
///
/// The thread that has the role is found from its ``ThreadCallStack``: it must not wait for itself,
/// and while it blocks in a flush, other callbacks that flush must not wait for it.
///
/// ## Thread safety
/// The thread that has the role calls ``begin(on:)``, ``end(on:)``, ``delivering(_:)`` and
/// ``calledEntry``; every other operation may be called from any thread.
final class DeliveryRole: @unchecked Sendable {
  // Sendable: only the thread that has the role, and the lock that hands it over, access `outer`
  // and `frame`.

  /// The role that the thread had before this one.
  private var outer: UnsafeRawPointer?
  /// Where that thread shows to which entry it delivers, while it delivers an event.
  private var frame: UnsafeMutablePointer<ThreadCallStack.Frame>?
  /// The number of flushes in which the thread that has the role is blocked.
  // Sequentially consistent everywhere: see `Registry.flush(timeout:)`.
  private let blockedFlushes = Atomic<Int>(0)

  /// The calling thread has taken the role. Whatever gave it the role keeps this object alive.
  func begin(on thread: ThreadCallStack.Pointer) {
    outer = thread.pointee.deliveryRole
    thread.pointee.deliveryRole = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
  }

  /// The calling thread is about to give the role up.
  func end(on thread: ThreadCallStack.Pointer) {
    thread.pointee.deliveryRole = outer
    outer = nil
  }

  /// Runs `body`, which delivers an event to the entries of a hub. The calling thread has the role.
  ///
  /// - Parameter body: begins no other invocation before that of the hub.
  func delivering(_ body: () -> Void) {
    frame = ThreadCallStack.current.pointee.top
    body()
    frame = nil
  }

  /// The entry to which the calling thread, which has the role, delivers now.
  var calledEntry: UnsafeRawPointer? {
    // Relaxed: a frame of this thread.
    frame?.pointee.load(ordering: .relaxed)
  }

  /// The roles that the calling thread has.
  static var ofThisThread: [DeliveryRole] {
    var roles: [DeliveryRole] = []
    for innermost in ThreadCallStack.deliveryRolesOfThisThread {
      var candidate: UnsafeRawPointer? = innermost
      while let pointer = candidate {
        // SAFETY: this thread has the role until `end`, and what gave it the role keeps it alive.
        let role = Unmanaged<DeliveryRole>.fromOpaque(pointer).takeUnretainedValue()
        roles.append(role)
        candidate = role.outer
      }
    }
    return roles
  }

  /// Whether the thread that has the role blocks in a flush.
  var isBlockedInFlush: Bool { blockedFlushes.load(ordering: .sequentiallyConsistent) > 0 }

  /// The thread that has the role begins a flush (1), or ends it (-1).
  func addBlockedFlushes(_ difference: Int) {
    blockedFlushes.add(difference, ordering: .sequentiallyConsistent)
  }
}
