#if canImport(ObjectiveC) || MULTICAST_PORTABLE_WEAK

  internal import CMulticast

  /// A weak reference in one trivial word: the portable form, over `weak`.
  ///
  /// It is used where objects may be those of Objective-C, and wherever
  /// `MULTICAST_PORTABLE_WEAK` is defined. It is created and destroyed by hand, because it lives
  /// in the untyped memory of an ``Entry``.
  @usableFromInline
  struct WeakReference {
    // Sendable: a `weak let` never changes and can be loaded by many threads at once; the box is
    // destroyed, as a whole, only when no thread can reach its entry.
    @usableFromInline
    final class Box: @unchecked Sendable {
      @usableFromInline weak let object: AnyObject?
      let address: Int

      init(_ object: AnyObject) {
        self.object = object
        self.address = Int(bitPattern: Unmanaged.passUnretained(object).toOpaque())
      }
    }

    @usableFromInline let box: Unmanaged<Box>

    /// A reference to `object`, to be given back with ``destroy()``.
    init(_ object: AnyObject) {
      box = .passRetained(Box(object))
    }

    /// The reference that ``word`` stands for.
    @usableFromInline
    init(word: UnsafeMutableRawPointer) {
      box = .fromOpaque(word)
    }

    /// The reference as an untyped word.
    var word: UnsafeMutableRawPointer { box.toOpaque() }

    /// Where the object is, or was: another object may live there by now.
    var address: Int { box._withUnsafeGuaranteedRef { $0.address } }

    /// Whether another object may live at the address by now.
    var isStale: Bool { isDead }

    /// The object with a retain that the caller owes a release, or `nil` once its
    /// deinitialisation has begun.
    @inlinable
    func promote() -> Unmanaged<AnyObject>? {
      // SAFETY: the entry that holds this reference is held by the caller, so the box lives.
      guard let object = box._withUnsafeGuaranteedRef({ $0.object }) else { return nil }
      return .passRetained(object)
    }

    /// Whether the deinitialisation of the object has begun. If so, what was written before its
    /// last release is visible.
    ///
    /// This may make the caller its last owner for a moment, and so run its `deinit`: never call
    /// it inside a critical section.
    var isDead: Bool {
      guard let object = promote() else {
        cmulticast_fence_acquire()
        return true
      }
      object.release()
      return false
    }

    /// Gives the reference back. It must not be used afterwards.
    func destroy() { box.release() }
  }

#else

  public import CMulticast

  /// A weak reference in one trivial word: an unowned reference, promoted by try-retain.
  ///
  /// A `weak` load costs four 16-byte compare-and-swaps, and the first weak reference gives its
  /// object a side table for life, which makes every later retain and release of that object
  /// slower. An unowned reference keeps the memory of a dead object, though not its stored
  /// properties, and the runtime's try-retain tells whether the object is still alive: two 8-byte
  /// atomic operations for a call, and no side table. This holds where every object is a native
  /// Swift object, hence not on Apple's platforms.
  ///
  /// The memory being kept has a second use: no new object can appear at the address of a dead
  /// one while a reference to it is left, so the address is an identity.
  ///
  /// It is created and destroyed by hand, because it lives in the untyped memory of an ``Entry``.
  @usableFromInline
  struct WeakReference {
    @usableFromInline let object: UnsafeMutableRawPointer

    /// A reference to `object`, to be given back with ``destroy()``.
    init(_ object: AnyObject) {
      // SAFETY: on this platform every class instance is a native Swift object.
      self.object = swift_unownedRetain(Unmanaged.passUnretained(object).toOpaque())
    }

    /// The reference that ``word`` stands for.
    @usableFromInline
    init(word: UnsafeMutableRawPointer) {
      object = word
    }

    /// The reference as an untyped word.
    var word: UnsafeMutableRawPointer { object }

    /// Where the object is, or was: no other object lives there as long as this reference exists.
    var address: Int { Int(bitPattern: object) }

    /// Whether another object may live at the address by now: never, see above.
    var isStale: Bool { false }

    /// The object with a retain that the caller owes a release, or `nil` once its
    /// deinitialisation has begun.
    @inlinable
    func promote() -> Unmanaged<AnyObject>? {
      // SAFETY: the unowned reference keeps the object's header, which is all that is read.
      guard let retained = swift_tryRetain(object) else { return nil }
      return .fromOpaque(retained)
    }

    /// Whether the deinitialisation of the object has begun. If so, what was written before its
    /// last release is visible.
    ///
    /// It retains nothing, so it never makes the caller the last owner. (The portable form does.)
    var isDead: Bool {
      // SAFETY: as for `promote`.
      guard swift_isDeallocating(object) else { return false }
      cmulticast_fence_acquire()
      return true
    }

    /// Gives the reference back. It must not be used afterwards.
    func destroy() { swift_unownedRelease(object) }
  }

#endif
