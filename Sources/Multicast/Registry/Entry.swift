// One registration, as the library keeps it.
//
//     ┌─ object header, 16 bytes ─┐
//     │ state, isWeak, slot       │  EntryHead, the same for every type of value
//     │ previous, next            │
//     │ mailbox                   │
//     │ target ───────────────────┼──▶ the delegate (weakly), or a strong owner of the value
//     ├───────────────────────────┤
//     │ value                     │  EntryValue<Value>: a copy without a retain
//     │ (keeper)                  │  what keeps the value, if the target does not
//     └───────────────────────────┘
//
// What user code receives (`any P`: a reference and a witness table, say) is kept ready beside the
// target, as bits that own nothing. A delivery makes sure that the target is alive and then hands
// the bits to the callback: no cast, no copy, and for a strong target no reference counting at all.
//
// Everything but the typed value is free of generics: the registry and its strategies are compiled
// once, and only the loop over the callbacks is specialised in the user's module.

public import Synchronization

#if _pointerBitWidth(_32)
  #error("Multicast needs 64-bit pointers")
#endif

/// One registration: what is called, and whether it still may be.
///
/// An entry is referenced by the storage of its registry until it is removed, by snapshots that
/// outlive a read section, and by `Registration` handles.
///
/// ## Thread safety
/// `state` is atomic; `slot`, `previous` and `next` are guarded by the lock of the storage; the
/// rest never changes.
@usableFromInline
final class Entry: ManagedBuffer<Void, UInt> {
  deinit {
    // SAFETY: initialised by `make`. Only the target, the mailbox and the keeper own anything.
    let head = head
    if head.pointee.isWeak {
      WeakReference(word: head.pointee.target).destroy()
    } else {
      Unmanaged<AnyObject>.fromOpaque(head.pointee.target).release()
    }
    head.pointee.mailbox?.release()
    if head.pointee.keeperOffset > 0 {
      (UnsafeMutableRawPointer(head) + Int(head.pointee.keeperOffset))
        .load(as: Unmanaged<AnyObject>.self).release()
    }
  }
}

// An entry cannot be declared Sendable, because `ManagedBuffer` rules that out. See "Thread safety"
// above for why it may be used by many threads. What a typed hub puts into an entry leaves it only
// through that hub, which is Sendable where its values are.

/// The untyped part of an ``Entry``.
@usableFromInline
struct EntryHead: ~Copyable {
  /// Neighbours in a chain of the ``IdentityIndex``.
  var previous: Unmanaged<Entry>?
  var next: Unmanaged<Entry>?
  /// Where deliveries wait for the entry's queue, owned; `nil` if it is called by the sender.
  @usableFromInline let mailbox: Unmanaged<Mailbox>?
  // What a delivery reads comes last, next to the value: most often in one cache line.
  @usableFromInline let target: UnsafeMutableRawPointer
  /// Where the storage keeps this entry.
  var slot: UInt32 = 0
  /// Where, counted from the head, a retained object is that keeps the value; 0 if the target does.
  let keeperOffset: UInt16
  /// Whether `target` is a ``WeakReference``; otherwise it is a retained object.
  @usableFromInline let isWeak: Bool
  /// One of ``activeStrong``, ``activeWeak`` and ``inactive``. It never becomes active again.
  @usableFromInline let state: Atomic<UInt8>

  init(
    isWeak: Bool, keeperOffset: UInt16, target: UnsafeMutableRawPointer, mailbox: Mailbox?
  ) {
    state = Atomic(isWeak ? EntryHead.activeWeak : EntryHead.activeStrong)
    self.isWeak = isWeak
    self.keeperOffset = keeperOffset
    self.target = target
    self.mailbox = mailbox.map(Unmanaged.passRetained)
  }

  /// The entry may be called, and keeps its target alive.
  @usableFromInline static var activeStrong: UInt8 { 1 }
  /// The entry may be called if its target is alive.
  @usableFromInline static var activeWeak: UInt8 { 2 }
  /// The entry was removed: it must not be called any more.
  @usableFromInline static var inactive: UInt8 { 0 }

  @inlinable static func isActive(_ state: UInt8) -> Bool { state != inactive }
}

/// The typed part of an ``Entry``.
///
/// It cannot be copied, so reading it through a pointer is a borrow: this is what keeps the
/// compiler from retaining the value for each call.
@usableFromInline
struct EntryValue<Value>: ~Copyable {
  @usableFromInline let value: Value

  init(_ value: consuming Value) {
    self.value = value
  }

  // Not `@inline(__always)`: inlined too early, an existential without a class bound is copied.
  @inlinable
  borrowing func pass<R, E>(to body: (Value) throws(E) -> R) throws(E) -> R {
    try body(value)
  }
}

/// Keeps a value alive that is no class instance, or makes any value an object of its own.
private final class ValueOwner<Value> {
  let value: Value

  init(_ value: Value) {
    self.value = value
  }
}

// MARK: - Creation

extension Entry {
  /// An entry for `delegate`, which must be an instance of a class if `ownership` is weak.
  static func make<Value>(
    _ delegate: Value, ownership: Ownership, mailbox: Mailbox? = nil
  ) -> Entry {
    guard let object = classInstance(delegate) else {
      require(
        ownership == .strong,
        """
        Multicast: \(type(of: delegate as Any)) is a value type, and a weak reference to a value \
        would be lost at once. Add it with ownership: .strong, or make it a class.
        """)
      let owner = ValueOwner(delegate)
      return make(
        owner.value, isWeak: false, target: Unmanaged.passRetained(owner).toOpaque(),
        mailbox: mailbox)
    }
    if ownership == .weak { requireOwner(of: object, as: Value.self) }
    switch ownership {
    case .weak:
      return make(
        delegate, isWeak: true, target: WeakReference(object).word, mailbox: mailbox)
    case .strong:
      return make(
        delegate, isWeak: false, target: Unmanaged.passRetained(object).toOpaque(),
        mailbox: mailbox, keeper: isErrorBox(Value.self) ? ValueOwner(delegate) : nil)
    }
  }

  /// An entry for `value`, which it keeps, and which is called as long as `owner` lives.
  static func make<Value>(_ value: Value, owner: AnyObject, mailbox: Mailbox?) -> Entry {
    let keeper = ValueOwner(value)
    return make(
      keeper.value, isWeak: true, target: WeakReference(owner).word, mailbox: mailbox,
      keeper: keeper)
  }

  /// An entry whose bits of `value` are kept alive by `target`, or by `keeper`.
  private static func make<Value>(
    _ value: Value, isWeak: Bool, target: UnsafeMutableRawPointer, mailbox: Mailbox?,
    keeper: AnyObject? = nil
  ) -> Entry {
    require(
      MemoryLayout<Value>.alignment <= 16,
      "Multicast: \(Value.self) is aligned to more than 16 bytes; add a class that holds it.")
    let offset = valueOffset(Value.self)
    // Behind the value, if there is one: the keeper.
    let keeperOffset = (offset + MemoryLayout<Value>.size + 7) & ~7
    let words = keeperOffset / 8 + (keeper == nil ? 0 : 1)
    // SAFETY: `create` makes an instance of the class that it is called on.
    let entry = unsafeDowncast(
      Entry.create(minimumCapacity: words, makingHeaderWith: { _ in () }), to: Entry.self)
    assert(
      UnsafeRawPointer(entry.head) == entry.identity + headOffset,
      "the head does not begin where its offset says")
    entry.head.initialize(
      to: EntryHead(
        isWeak: isWeak, keeperOffset: keeper == nil ? 0 : UInt16(keeperOffset), target: target,
        mailbox: mailbox))
    // SAFETY: the bits are copied as they are, without the retain that a copy of the value would
    // make. They are used only while `target` keeps what they refer to alive, and never destroyed.
    withUnsafeBytes(of: value) { bits in
      (UnsafeMutableRawPointer(entry.head) + offset).copyMemory(
        from: bits.baseAddress!, byteCount: bits.count)
    }
    if let keeper {
      (UnsafeMutableRawPointer(entry.head) + keeperOffset)
        .initializeMemory(as: Unmanaged<AnyObject>.self, to: .passRetained(keeper))
    }
    return entry
  }
}

// MARK: - Layout

extension Entry {
  /// Where, counted from the object, the head begins: behind the object's own header.
  static var headOffset: Int { 16 }

  /// Where, counted from the object, the state and the value begin: what a delivery reads.
  @usableFromInline static var hotOffset: Int { 48 }

  @inlinable
  var head: UnsafeMutablePointer<EntryHead> {
    // SAFETY: the memory behind the object header begins with a head, bound by `make`, and has no
    // other typed access to these bytes.
    withUnsafeMutablePointerToElements {
      UnsafeMutableRawPointer($0).assumingMemoryBound(to: EntryHead.self)
    }
  }

  /// Where the value begins, counted from the head.
  @inlinable @inline(__always)
  static func valueOffset<Value>(_: Value.Type) -> Int {
    let mask = MemoryLayout<Value>.alignment - 1
    // The head begins 16 bytes into an object that is aligned to 16, the largest alignment there
    // is.
    return (MemoryLayout<EntryHead>.size + mask) & ~mask
  }

  @inlinable @inline(__always)
  static func value<Value>(
    _ head: UnsafeMutablePointer<EntryHead>, as _: Value.Type
  ) -> UnsafePointer<EntryValue<Value>> {
    // SAFETY: the hub that made the entry for a `Value` is the only one that asks for it.
    UnsafeRawPointer(UnsafeMutableRawPointer(head) + valueOffset(Value.self))
      .assumingMemoryBound(to: EntryValue<Value>.self)
  }
}

extension Unmanaged<Entry> {
  /// The head of an entry that is held by its storage or by the caller.
  @usableFromInline var head: UnsafeMutablePointer<EntryHead> {
    // SAFETY: whoever has the reference knows who holds the entry: the storage for the index, the
    // read section for a delivery.
    @inlinable get { _withUnsafeGuaranteedRef { $0.head } }
  }
}

extension EntryHead {
  /// Where the target is, or was if it is weak.
  var address: Int {
    isWeak ? WeakReference(word: target).address : Int(bitPattern: target)
  }
}

// MARK: - Terms

extension Entry {
  /// Where deliveries wait for the entry's consumer, if they do.
  var mailbox: Mailbox? {
    head.pointee.mailbox?.takeUnretainedValue()
  }

  /// Whether this entry gives its delegate something that `existing`, of the same delegate, does
  /// not: a strong reference, a queue, another queue, another buffering.
  func asksForMore(than existing: Entry) -> Bool {
    if existing.head.pointee.isWeak && !head.pointee.isWeak { return true }
    guard let mailbox else { return false }
    guard let other = existing.mailbox else { return true }
    return !mailbox.hasTerms(of: other)
  }
}

// MARK: - State

extension Entry {
  /// Whether the entry was not removed and its target has not begun to die.
  ///
  /// With portable weak references it may become the last owner of the target: never call it
  /// inside a critical section.
  var isLive: Bool {
    // Acquiring: pairs with whoever removed the entry.
    guard EntryHead.isActive(head.pointee.state.load(ordering: .acquiring)) else { return false }
    return !isDead
  }

  /// What the frame of a thread holds while it calls this entry. Whoever compares it holds the
  /// entry, so nothing else can have the same address.
  var identity: UnsafeRawPointer {
    UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
  }

  /// Discards what waits in the mailbox: the entry was removed. Runs user code: outside of locks.
  func discardPending() {
    head.pointee.mailbox?._withUnsafeGuaranteedRef { $0.cancel(self) }
  }

  /// Whether the target is weak and its deinitialisation has begun. As for ``isLive``.
  var isDead: Bool {
    head.pointee.isWeak && WeakReference(word: head.pointee.target).isDead
  }

  /// The value, retained, if the entry is live.
  func liveValue<Value>(as _: Value.Type) -> Value? {
    // Acquiring: pairs with whoever removed the entry.
    guard EntryHead.isActive(head.pointee.state.load(ordering: .acquiring)) else { return nil }
    let value = Entry.value(head, as: Value.self)
    guard head.pointee.isWeak else { return value.pointee.value }
    guard let target = WeakReference(word: head.pointee.target).promote() else { return nil }
    defer { target.release() }
    return value.pointee.value
  }
}
