internal import Synchronization

/// A reference that is set at most once, by any thread, and then never changes.
///
/// ## Thread safety
/// Every operation may be called from any thread.
struct LazyReference<Object: AnyObject & Sendable>: ~Copyable, Sendable {
  private let reference: Atomic<Unmanaged<Object>?>

  /// - Parameter object: the object, if it is known from the beginning.
  init(_ object: Object? = nil) {
    reference = Atomic(object.map(Unmanaged.passRetained))
  }

  deinit {
    // Relaxed: no other thread has a reference to the owner.
    reference.load(ordering: .relaxed)?.release()
  }
}

extension LazyReference {
  /// The object, or `nil` if none was set.
  var current: Object? {
    // SAFETY: an object that was set is released by `deinit` alone.
    unretained?.takeUnretainedValue()
  }

  /// The object, which the owner of the reference keeps, or `nil` if none was set.
  var unretained: Unmanaged<Object>? {
    // Acquiring: the object with its contents.
    reference.load(ordering: .acquiring)
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
    // SAFETY: as in `current`.
    return isSet ? nil : other?.takeUnretainedValue()
  }

  /// The object, which is `new` if none was set.
  borrowing func current(or new: @autoclosure () -> Object) -> Object {
    if let current { return current }
    let new = new()
    return install(new) ?? new
  }
}
