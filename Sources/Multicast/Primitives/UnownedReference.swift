internal import CMulticast

/// A reference to an object that keeps its memory, hence its address, but not the object.
///
/// Unlike a `weak` reference it gives the object no side table, which would make each later retain
/// and release of it slower. Unlike an `unowned` one it can be used when the object is dead.
///
/// ## Thread safety
/// Every operation may be called from any thread. ``object`` may make the caller the last owner.
struct UnownedReference<Object: AnyObject>: @unchecked Sendable, Unreflected {
  // Sendable: it never changes, and the runtime counts references atomically. What a thread may do
  // with the object is the matter of the type that has the reference.

  private unowned let reference: Object

  /// - Parameter object: an instance of a class of this library.
  init(_ object: Object) {
    reference = object
  }

  /// The address of the object, which may be dead: reading `reference` would trap then.
  var address: UnsafeMutableRawPointer {
    // SAFETY: the classes of this library are native Swift classes on every platform; an unowned
    // reference to an instance of one is its address.
    unsafeBitCast(self, to: UnsafeMutableRawPointer.self)
  }

  /// The object, or `nil` if its deinitialisation has begun. Then what was written before the last
  /// release is visible.
  var object: Object? {
    // SAFETY: the reference keeps the header of the object, and nothing else is read.
    guard let object = swift_tryRetain(address) else {
      cmulticast_fence_acquire()
      return nil
    }
    return Unmanaged<Object>.fromOpaque(object).takeRetainedValue()
  }
}
