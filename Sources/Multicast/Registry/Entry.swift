// The memory of one registration.
//
//     ┌─ object header, 16 bytes ─┐
//     │ previous, next            │  EntryHead, the same for every type of value
//     │ mailbox                   │
//     │ target ───────────────────┼──▶ the delegate (weakly), or a strong owner of the value
//     │ slot, isWeak, state       │
//     ├───────────────────────────┤
//     │ value                     │  EntryValue<Value>: a copy without a retain
//     │ (keeper)                  │  owns the value, if the target does not
//     └───────────────────────────┘
//
// The value that user code receives (such as an `any P`: a reference and a witness table) is stored
// as bits that own nothing. A delivery checks that the target is alive and passes the bits to the
// callback: no cast, no copy, and for a strong target no reference counting.
//
// Only the typed value is generic: the registry and its storages are compiled once, and only the
// loop over the callbacks is specialised in the user's module.

public import Synchronization

#if _pointerBitWidth(_32)
  #error("Multicast needs 64-bit pointers")
#endif

/// One registration: what to call, and whether it may still be called.
///
/// The storage owns an entry until it is removed; snapshots retain it. A handle keeps only its
/// memory.
///
/// ## Thread safety
/// `state` is atomic; `slot`, `previous` and `next` are guarded by the lock of the storage; the
/// rest never changes.
@usableFromInline
final class Entry: ManagedBuffer<Void, UInt> {
  deinit {
    // SAFETY: `make` has initialised it. Only the target, the mailbox and the keeper are owned.
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

// `ManagedBuffer` rules out a Sendable conformance. "Thread safety" above says why many threads may
// use an entry. The value of an entry leaves it only through its hub, which is Sendable where its
// values are.

/// The untyped part of an ``Entry``.
@usableFromInline
struct EntryHead: ~Copyable {
  /// The neighbours in a chain of the ``IdentityIndex``.
  var previous: Unmanaged<Entry>?
  var next: Unmanaged<Entry>?
  /// The mailbox in which deliveries wait, owned; `nil` if there is none yet. It is set once.
  @usableFromInline let mailboxReference: Atomic<Unmanaged<Mailbox>?>
  // A delivery reads the last fields and the value: usually one cache line.
  @usableFromInline let target: UnsafeMutableRawPointer
  /// The index of this entry in the slots of the storage.
  var slot: UInt32 = 0
  /// The offset from the head of the object that owns the value; 0 if the target owns it.
  let keeperOffset: UInt16
  /// Whether `target` is a ``WeakReference``; otherwise it is a retained object.
  @usableFromInline let isWeak: Bool
  /// One of ``activeStrong`` and ``activeWeak``, plus ``isPlaced``; or ``inactive``, which is final.
  /// Either may have ``finished``, and an active one ``blocked``.
  @usableFromInline let state: Atomic<UInt8>

  init(
    isWeak: Bool, keeperOffset: UInt16, target: UnsafeMutableRawPointer, mailbox: Mailbox?,
    isPlaced: Bool
  ) {
    state = Atomic(
      (isWeak ? EntryHead.activeWeak : EntryHead.activeStrong)
        | (isPlaced && mailbox != nil ? EntryHead.isPlaced : 0))
    self.isWeak = isWeak
    self.keeperOffset = keeperOffset
    self.target = target
    mailboxReference = Atomic(mailbox.map(Unmanaged.passRetained))
  }

  /// The mailbox of an entry that was added with one.
  @inlinable var placedMailbox: Unmanaged<Mailbox>? {
    guard let mailbox, mailbox._withUnsafeGuaranteedRef({ $0.isPlace }) else { return nil }
    return mailbox
  }

  @inlinable var mailbox: Unmanaged<Mailbox>? {
    // Acquiring: the mailbox with its contents.
    mailboxReference.load(ordering: .acquiring)
  }

  /// The entry may be called, and keeps its target alive.
  @usableFromInline static var activeStrong: UInt8 { 1 }
  /// The entry may be called if its target is alive.
  @usableFromInline static var activeWeak: UInt8 { 2 }
  /// The entry was added with a mailbox, and only its consumer may retain the target or call it.
  /// Such a state differs from the plain ones, so that the loop over delegates compares it with two
  /// numbers.
  @usableFromInline static var isPlaced: UInt8 { 4 }
  /// The entry was removed and must not be called.
  @usableFromInline static var inactive: UInt8 { 0 }

  /// A bit of an active entry: it must not be called now.
  @usableFromInline static var blocked: UInt8 { 8 }
  /// A bit: the end of the hub ends the entry, or has ended it. Set before the entry becomes
  /// inactive, and kept.
  @usableFromInline static var finished: UInt8 { 16 }

  @inlinable static func isActive(_ state: UInt8) -> Bool { state & ~finished != inactive }

  /// Whether the entry is active and may be called now.
  @inlinable static func isCallable(_ state: UInt8) -> Bool {
    state != inactive && state & (blocked | finished) == 0
  }
}

/// The typed part of an ``Entry``.
///
/// It cannot be copied, so reading it through a pointer is a borrow. That keeps the compiler from
/// retaining the value for each call.
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

/// Owns a value.
private final class ValueOwner<Value> {
  let value: Value

  init(_ value: Value) {
    self.value = value
  }
}

// MARK: - Creation

extension Entry {
  /// An entry for `delegate`, which must be an instance of a class if `ownership` is weak.
  ///
  /// - Parameter hub: the name of the hub, for the message if it is not.
  static func make<Value>(
    _ delegate: Value, ownership: Ownership, mailbox: Mailbox? = nil, hub: String? = nil
  ) -> Entry {
    guard let object = classInstance(delegate) else {
      require(
        ownership == .strong,
        """
        \(messagePrefix(hub)) \(type(of: delegate as Any)) is a value type, which cannot be held \
        weakly. Add it with ownership: .strong, or make it a class.
        """)
      let owner = ValueOwner(delegate)
      return make(
        owner.value, isWeak: false, target: Unmanaged.passRetained(owner).toOpaque(),
        mailbox: mailbox)
    }
    if ownership == .weak { requireOwner(of: object, as: Value.self, hub) }
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

  /// An entry that owns `value`, and may be called as long as `owner`, if there is one, lives.
  static func make<Value>(_ value: Value, owner: AnyObject?, mailbox: Mailbox?) -> Entry {
    let keeper = ValueOwner(value)
    guard let owner else {
      // The hub itself tells apart whom a sender calls, and no target could die.
      return make(
        keeper.value, isWeak: false, target: Unmanaged.passRetained(keeper).toOpaque(),
        mailbox: mailbox, isPlaced: false)
    }
    return make(
      keeper.value, isWeak: true, target: WeakReference(owner).word, mailbox: mailbox,
      keeper: keeper)
  }

  /// An entry with the bits of `value`, owned by `keeper`, or by `target` if there is no keeper.
  private static func make<Value>(
    _ value: Value, isWeak: Bool, target: UnsafeMutableRawPointer, mailbox: Mailbox?,
    keeper: AnyObject? = nil, isPlaced: Bool = true
  ) -> Entry {
    require(
      MemoryLayout<Value>.alignment <= 16,
      "Multicast: \(Value.self) is aligned to more than 16 bytes; add a class that holds it.")
    let offset = valueOffset(Value.self)
    let keeperOffset = (offset + MemoryLayout<Value>.size + 7) & ~7
    let words = keeperOffset / 8 + (keeper == nil ? 0 : 1)
    // SAFETY: `create` makes an instance of the class it is called on.
    let entry = unsafeDowncast(
      Entry.create(minimumCapacity: words, makingHeaderWith: { _ in () }), to: Entry.self)
    assert(
      UnsafeRawPointer(entry.head) == entry.identity + headOffset,
      "the head does not begin where its offset says")
    entry.head.initialize(
      to: EntryHead(
        isWeak: isWeak, keeperOffset: keeper == nil ? 0 : UInt16(keeperOffset), target: target,
        mailbox: mailbox, isPlaced: isPlaced))
    // SAFETY: copies the bits without the retain of a copied value. They are used only while
    // `target` or `keeper` owns what they refer to, and never destroyed.
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
  /// The offset of the head from the object: the size of the object's own header.
  static var headOffset: Int { 16 }

  /// The offset of the word with the state from the object; the value follows.
  @usableFromInline static var hotOffset: Int { 48 }

  @inlinable
  var head: UnsafeMutablePointer<EntryHead> {
    // SAFETY: the memory after the object header begins with a head, which `make` has initialised;
    // nothing accesses these bytes as another type.
    withUnsafeMutablePointerToElements {
      UnsafeMutableRawPointer($0).assumingMemoryBound(to: EntryHead.self)
    }
  }

  /// The offset of the value from the head.
  @inlinable @inline(__always)
  static func valueOffset<Value>(_: Value.Type) -> Int {
    let mask = MemoryLayout<Value>.alignment - 1
    // The head is aligned to 16, the largest alignment of a value: see `make`.
    return (MemoryLayout<EntryHead>.size + mask) & ~mask
  }

  @inlinable @inline(__always)
  static func value<Value>(
    _ head: UnsafeMutablePointer<EntryHead>, as _: Value.Type
  ) -> UnsafePointer<EntryValue<Value>> {
    // SAFETY: only the hub that made the entry for a `Value` reads it.
    UnsafeRawPointer(UnsafeMutableRawPointer(head) + valueOffset(Value.self))
      .assumingMemoryBound(to: EntryValue<Value>.self)
  }
}

extension Unmanaged<Entry> {
  /// The head of an entry that the storage or the caller holds.
  @usableFromInline var head: UnsafeMutablePointer<EntryHead> {
    // SAFETY: the storage holds the entries of its index; a read section or a snapshot holds those
    // of a delivery.
    @inlinable get { _withUnsafeGuaranteedRef { $0.head } }
  }
}

extension EntryHead {
  /// The address of the target, which may be dead if it is weak.
  var address: Int {
    isWeak ? WeakReference(word: target).address : Int(bitPattern: target)
  }
}

// MARK: - The mailbox

extension Entry {
  var mailbox: Mailbox? {
    head.pointee.mailbox?.takeUnretainedValue()
  }

  /// The mailbox, which is `makeMailbox()` if the entry had none.
  func mailbox(or makeMailbox: () -> Mailbox) -> Mailbox {
    if let mailbox { return mailbox }
    let new = Unmanaged.passRetained(makeMailbox())
    // Releases the contents of the new mailbox; acquires those of another thread's.
    let (isSet, other) = head.pointee.mailboxReference.compareExchange(
      expected: nil, desired: new, ordering: .acquiringAndReleasing)
    if !isSet { new.release() }
    return (isSet ? new : other ?? new).takeUnretainedValue()
  }

  /// Whether this entry gives its delegate something that `existing`, of the same delegate, does
  /// not: a strong reference, a queue, another queue, another buffering.
  func extendsTerms(of existing: Entry) -> Bool {
    if existing.head.pointee.isWeak && !head.pointee.isWeak { return true }
    guard let mailbox else { return false }
    guard let other = existing.mailbox else { return true }
    return !mailbox.hasTerms(of: other)
  }
}

// MARK: - State

extension Entry {
  /// Whether the entry was not removed and the deinitialisation of its target has not begun.
  ///
  /// With portable weak references the caller may become the last owner of the target: never call
  /// this inside a critical section.
  var isLive: Bool {
    // Acquiring: pairs with the thread that removed the entry.
    guard EntryHead.isActive(head.pointee.state.load(ordering: .acquiring)) else { return false }
    return !isDead
  }

  /// Records that the end of the hub ends the entry, which the caller then removes; does nothing if
  /// it was removed before.
  func markFinished() {
    // Relaxed: the caller removes the entry, which releases.
    var state = head.pointee.state.load(ordering: .relaxed)
    while EntryHead.isActive(state) {
      let (isMarked, current) = head.pointee.state.weakCompareExchange(
        expected: state, desired: state | EntryHead.finished, ordering: .relaxed)
      if isMarked { return }
      state = current
    }
  }

  /// The content of a thread's frame while it calls this entry. The thread that compares it keeps
  /// the memory of the entry, so no other entry can have the same address.
  var identity: UnsafeRawPointer {
    UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
  }

  /// Discards what waits in the mailbox of a removed entry. Runs user code: never call it inside a
  /// critical section.
  func discardPending() {
    head.pointee.mailbox?._withUnsafeGuaranteedRef { $0.cancel(self) }
  }

  /// Whether the target is weak and its deinitialisation has begun. Never call it inside a critical
  /// section, as ``isLive``.
  var isDead: Bool {
    head.pointee.isWeak && WeakReference(word: head.pointee.target).isDead
  }

  /// The value, retained, if the entry is live.
  ///
  /// - Parameter isCalled: whether the caller will call the value directly: see
  ///   `Mailbox.requireInlineCall(of:)`.
  func liveValue<Value>(as _: Value.Type, isCalled: Bool) -> Value? {
    // Acquiring: pairs with the thread that removed the entry.
    let state = head.pointee.state.load(ordering: .acquiring)
    guard EntryHead.isActive(state) else { return nil }
    let value = Entry.value(head, as: Value.self)
    var target: Unmanaged<AnyObject>?
    if head.pointee.isWeak {
      target = WeakReference(word: head.pointee.target).promote()
      guard target != nil else { return nil }
    }
    defer { target?.release() }
    if isCalled && state & EntryHead.isPlaced != 0 {
      // SAFETY: the target is retained here, or by the entry.
      let object = target ?? Unmanaged.fromOpaque(head.pointee.target)
      mailbox?.requireInlineCall(of: object.takeUnretainedValue())
    }
    return value.pointee.value
  }
}
