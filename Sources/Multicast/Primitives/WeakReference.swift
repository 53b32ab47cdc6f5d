#if canImport(ObjectiveC) || MULTICAST_PORTABLE_WEAK

  internal import CMulticast
  #if canImport(ObjectiveC)
    internal import ObjectiveC
  #endif

  /// A weak reference in one trivial word: the portable form, over `weak`.
  ///
  /// It is used where objects may be Objective-C objects, and with `MULTICAST_PORTABLE_WEAK`. It is
  /// created and destroyed by hand, because it lives in the untyped memory of an ``Entry``.
  @usableFromInline
  struct WeakReference {
    // Sendable: any number of threads may load a `weak let` at once; the box is destroyed only when
    // no thread can reach its entry.
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

    /// A reference to `object`, to be released with ``destroy()``.
    init(_ object: AnyObject) {
      box = .passRetained(Box(object))
    }

    /// The reference with this ``word``.
    @usableFromInline
    init(word: UnsafeMutableRawPointer) {
      box = .fromOpaque(word)
    }

    /// The reference as an untyped word.
    var word: UnsafeMutableRawPointer { box.toOpaque() }

    /// The object's address. If the object is dead, another one may live there.
    // SAFETY: the caller holds the entry, and the entry holds the box.
    var address: Int { box._withUnsafeGuaranteedRef { $0.address } }

    /// Whether another object may live at the address.
    var isStale: Bool { isDead }

    /// The object, retained for the caller; `nil` once its deinitialisation has begun.
    @inlinable
    func promote() -> Unmanaged<AnyObject>? {
      // SAFETY: the caller holds the entry, and the entry holds the box.
      guard let object = box._withUnsafeGuaranteedRef({ $0.object }) else { return nil }
      return .passRetained(object)
    }

    /// Whether the deinitialisation of the object has begun. If so, what was written before its
    /// last release is visible.
    ///
    /// Never call this inside a critical section: it briefly retains the object, so it may release
    /// the last reference and run the `deinit`.
    var isDead: Bool {
      guard let object = promote() else {
        cmulticast_fence_acquire()
        return true
      }
      object.release()
      return false
    }

    /// Whether it can be told, without a retain, that ``isDead`` is `true`.
    var isKnownDead: Bool { false }

    /// Whether the deinitialisation of `object` has begun; `true` if that is not known.
    static func isDying(_ object: AnyObject) -> Bool {
      #if canImport(ObjectiveC)
        // The Objective-C runtime ends the process when such an object gets a weak reference.
        guard !(object is NSObject) else { return true }
      #endif
      weak let reference = object
      return reference == nil
    }

    /// Releases the reference, which must not be used afterwards.
    func destroy() { box.release() }
  }

#else

  public import CMulticast

  /// A weak reference in one trivial word: an unowned reference, promoted by try-retain.
  ///
  /// A `weak` load costs four 16-byte compare-and-swaps, and the first weak reference gives its
  /// object a permanent side table, which makes every later retain and release of that object
  /// slower. An unowned reference keeps the memory of a dead object, though not its stored
  /// properties, and the runtime's try-retain tells whether the object is alive: two 8-byte atomic
  /// operations per call, and no side table. This requires that every object is a native Swift
  /// object, which is not the case on Apple's platforms.
  ///
  /// Because the memory is kept, no new object can appear at the address of a dead one while a
  /// reference to it exists. So the address is an identity.
  ///
  /// It is created and destroyed by hand, because it lives in the untyped memory of an ``Entry``.
  @usableFromInline
  struct WeakReference {
    @usableFromInline let object: UnsafeMutableRawPointer

    /// A reference to `object`, to be released with ``destroy()``.
    init(_ object: AnyObject) {
      // SAFETY: on this platform every class instance is a native Swift object.
      self.object = swift_unownedRetain(Unmanaged.passUnretained(object).toOpaque())
    }

    /// The reference with this ``word``.
    @usableFromInline
    init(word: UnsafeMutableRawPointer) {
      object = word
    }

    /// The reference as an untyped word.
    var word: UnsafeMutableRawPointer { object }

    /// The object's address. No other object lives there as long as this reference exists.
    var address: Int { Int(bitPattern: object) }

    /// Whether another object may live at the address: never, see above.
    var isStale: Bool { false }

    /// The object, retained for the caller; `nil` once its deinitialisation has begun.
    @inlinable
    func promote() -> Unmanaged<AnyObject>? {
      // SAFETY: the unowned reference keeps the object's header, and nothing else is read.
      guard let retained = swift_tryRetain(object) else { return nil }
      return .fromOpaque(retained)
    }

    /// Whether the deinitialisation of the object has begun. If so, what was written before its
    /// last release is visible.
    ///
    /// Unlike the portable form, it retains nothing, so it never runs a `deinit`.
    var isDead: Bool {
      // SAFETY: as for `promote`.
      guard swift_isDeallocating(object) else { return false }
      cmulticast_fence_acquire()
      return true
    }

    /// As ``isDead``: it retains nothing.
    var isKnownDead: Bool { isDead }

    /// Whether the deinitialisation of `object` has begun.
    static func isDying(_ object: AnyObject) -> Bool {
      swift_isDeallocating(Unmanaged.passUnretained(object).toOpaque())
    }

    /// Releases the reference, which must not be used afterwards.
    func destroy() { swift_unownedRelease(object) }
  }

#endif
