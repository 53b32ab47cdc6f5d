internal import Synchronization

/// The ``DropCounter`` of a hub, made when the first subscriber with a buffer needs it.
///
/// ## Thread safety
/// Every operation may be called from any thread.
struct LazyDropCounter: ~Copyable, Sendable {
  private let reference = Atomic<Unmanaged<DropCounter>?>(nil)
  /// That of a hub that contains this one.
  private let parent: DropCounter?

  init(parent: DropCounter?) {
    self.parent = parent
  }

  deinit {
    // Relaxed: no other thread has a reference to the hub.
    reference.load(ordering: .relaxed)?.release()
  }
}

extension LazyDropCounter {
  /// The counter, or `nil` if none was needed.
  var current: DropCounter? {
    // SAFETY: a counter that was set is released by `deinit` alone. Acquiring: with its contents.
    reference.load(ordering: .acquiring)?.takeUnretainedValue()
  }

  /// The counter, made for a hub of this type and name if there is none.
  borrowing func counter(_ hub: Any.Type, _ name: String?) -> DropCounter {
    if let current { return current }
    let new = Unmanaged.passRetained(DropCounter(hub, name, parent: parent))
    // Releases the contents of the new counter; acquires those of another thread's.
    let (isSet, other) = reference.compareExchange(
      expected: nil, desired: new, ordering: .acquiringAndReleasing)
    if !isSet { new.release() }
    return (isSet ? new : other ?? new).takeUnretainedValue()
  }
}
