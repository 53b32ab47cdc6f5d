internal import Synchronization

/// A reference that is set at most once, by any thread, and then never changes.
///
/// ## Thread safety
/// Every operation may be called from any thread.
struct LazyReference<Object: AnyObject & Sendable>: ~Copyable, Sendable {
  private let reference = Atomic<Unmanaged<Object>?>(nil)

  init() {}

  deinit {
    // Relaxed: no other thread has a reference to the owner.
    reference.load(ordering: .relaxed)?.release()
  }
}

extension LazyReference {
  /// The object, or `nil` if none was set.
  var current: Object? {
    // SAFETY: an object that was set is released by `deinit` alone. Acquiring: with its contents.
    reference.load(ordering: .acquiring)?.takeUnretainedValue()
  }

  /// Sets `object`, unless one was set.
  ///
  /// - Returns: the object that was set before; `nil` if there was none.
  borrowing func install(_ object: Object) -> Object? {
    let new = Unmanaged.passRetained(object)
    // Releases the contents of the object; acquires those of another thread's.
    let (isSet, other) = reference.compareExchange(
      expected: nil, desired: new, ordering: .acquiringAndReleasing)
    if !isSet { new.release() }
    return isSet ? nil : other?.takeUnretainedValue()
  }
}
