// The memory of one registration.
//
//     ┌─ object header, 16 bytes ─┐
//     │ previous or type, next    │  EntryHead, the same for every type of value
//     │ mailbox or origin         │
//     │ target ───────────────────┼──▶ the delegate, weakly or strongly, or this entry itself
//     │ slot, isWeak, state       │
//     ├───────────────────────────┤
//     │ value                     │  EntryValue<Value>
//     └───────────────────────────┘
//
// The value that user code receives (such as an `any P`: a reference and a witness table) is stored
// as bits that own nothing, if the target owns it; otherwise the entry owns it. A delivery checks
// that the target is alive and passes the bits to the callback: no cast, no copy, and for a strong
// target no reference counting.
//
// Only the typed value is generic: the registry and its storages are compiled once, and only the
// loop over the callbacks is specialised in the user's module.

public import Synchronization

/// One registration: what to call, and whether it may still be called.
///
/// The storage owns an entry until it is removed; snapshots retain it. A handle keeps only its
/// memory.
///
/// ## Thread safety
/// `state` and `mailboxReference` are atomic; `slot`, `previous` and `next` are guarded by the lock
/// of the storage, and `next` belongs to the reclaimer once the entry was removed; the rest never
/// changes.
@usableFromInline
final class Entry: ManagedBuffer<Void, UInt> {
  deinit {
    // SAFETY: `make` has initialised it. Only the target, the mailbox and perhaps the value are
    // owned.
    let head = head
    if head.pointee.isWeak {
      WeakReference(word: head.pointee.target).destroy()
    } else if head.pointee.target != Unmanaged.passUnretained(self).toOpaque() {
      Unmanaged<AnyObject>.fromOpaque(head.pointee.target).release()
    }
    if let mailbox = head.pointee.mailbox {
      mailbox.release()
    } else {
      head.pointee.origin.release()
    }
    func destroy<Value>(_: Value.Type) {
      // SAFETY: `make` has initialised a value of this type there.
      UnsafeMutableRawPointer(mutating: Entry.value(head, as: Value.self))
        .assumingMemoryBound(to: Value.self).deinitialize(count: 1)
    }
    switch head.pointee.valueOwner {
    case .target: break
    case .errorEntry: destroy((any Error).self)
    case .entry: _openExistential(head.pointee.valueType, do: destroy)
    }
  }
}

// `ManagedBuffer` rules out a Sendable conformance. "Thread safety" above says why many threads may
// use an entry. The value of an entry leaves it only through its hub, which is Sendable where its
// values are.

/// The untyped part of an ``Entry``.
@usableFromInline
struct EntryHead: ~Copyable {
  /// Who owns the value.
  enum ValueOwner: UInt8 {
    case target
    /// The entry. It is in no ``IdentityIndex``: nothing searches for its target.
    case entry
    /// The entry, and the value is an `any Error`. The target is its object.
    case errorEntry
  }

  /// The previous entry in a chain of the ``IdentityIndex``; or the type of the value, if its owner
  /// is ``ValueOwner/entry``.
  private var previousOrType: UnsafeRawPointer?
  /// The next entry in that chain.
  var next: Unmanaged<Entry>?
  /// The mailbox in which deliveries wait, owned, which is set once; or, if there is none yet,
  /// where the entry was made: an ``OriginWord``, which is odd. The mailbox then has that
  /// word.
  @usableFromInline let mailboxReference: Atomic<UInt>
  // A delivery reads the last fields and the value: usually one cache line.
  @usableFromInline let target: UnsafeMutableRawPointer
  /// The index of this entry in the slots of the storage.
  var slot: UInt32 = 0
  let valueOwner: ValueOwner
  /// Whether `target` is a ``WeakReference``; otherwise it is a retained object.
  @usableFromInline let isWeak: Bool
  /// One of ``activeStrong`` and ``activeWeak``, plus ``isPlaced`` and ``isMeasured``; or
  /// ``inactive``, which is final. Either may have ``finished``, and an active one ``blocked``.
  @usableFromInline let state: Atomic<UInt8>

  init(
    isWeak: Bool, valueOwner: ValueOwner, valueType: Any.Type, target: UnsafeMutableRawPointer,
    mailbox: Mailbox?, isPlaced: Bool, origin: OriginWord
  ) {
    // SAFETY: a metatype is the address of the metadata of its type, which lives for ever.
    previousOrType =
      valueOwner == .entry ? unsafeBitCast(valueType, to: UnsafeRawPointer.self) : nil
    state = Atomic(
      (isWeak ? EntryHead.activeWeak : EntryHead.activeStrong)
        | (isPlaced && mailbox != nil ? EntryHead.isPlaced : 0)
        | (origin.record?.timer?.kind == .delegate ? EntryHead.isMeasured : 0))
    self.isWeak = isWeak
    self.valueOwner = valueOwner
    self.target = target
    mailbox?.adopt(origin)
    mailboxReference = Atomic(mailbox.map(EntryHead.retainedBits) ?? origin.bits)
  }

  /// The type of the value, if its owner is ``ValueOwner/entry``.
  var valueType: Any.Type {
    // SAFETY: see `init`; such an entry is in no chain.
    unsafeBitCast(previousOrType!, to: Any.Type.self)
  }

  /// The previous entry in a chain of the ``IdentityIndex``.
  var previous: Unmanaged<Entry>? {
    // SAFETY: only an entry in the index has a neighbour, and its setter has set it.
    get { previousOrType.map(Unmanaged.fromOpaque) }
    set { previousOrType = newValue.map { UnsafeRawPointer($0.toOpaque()) } }
  }

  /// Whether an ``IdentityIndex`` has the entry.
  var isIndexed: Bool { valueOwner != .entry }

  /// The mailbox of an entry that was added with one.
  @inlinable var placedMailbox: Unmanaged<Mailbox>? {
    // SAFETY: the entry owns its mailbox.
    guard let mailbox, mailbox._withUnsafeGuaranteedRef({ $0.isPlace }) else { return nil }
    return mailbox
  }

  @inlinable var mailbox: Unmanaged<Mailbox>? { Self.mailbox(mailboxBits) }

  @inlinable static func mailbox(_ bits: UInt) -> Unmanaged<Mailbox>? {
    guard bits & 1 == 0 else { return nil }
    // SAFETY: even bits are those of a mailbox that the entry owns.
    return .fromOpaque(UnsafeRawPointer(bitPattern: bits).unsafelyUnwrapped)
  }

  @inlinable var mailboxBits: UInt {
    // Acquiring: the mailbox with its contents.
    mailboxReference.load(ordering: .acquiring)
  }

  fileprivate static func retainedBits(_ mailbox: Mailbox) -> UInt {
    UInt(bitPattern: Unmanaged.passRetained(mailbox).toOpaque())
  }

  /// Where the entry was made. What it refers to lives as long as the entry.
  var origin: OriginWord {
    let bits = mailboxBits  // Loaded once, because another thread may add a mailbox.
    // SAFETY: the entry owns its mailbox.
    return Self.mailbox(bits)?._withUnsafeGuaranteedRef { $0.origin } ?? OriginWord(bits: bits)
  }

  /// The entry may be called, and keeps its target alive.
  @usableFromInline static var activeStrong: UInt8 { 1 }
  /// The entry may be called if its target is alive.
  @usableFromInline static var activeWeak: UInt8 { 2 }
  /// The entry was added with a mailbox, and only its consumer may retain the target or call it.
  /// Such a state differs from the plain ones, so that the loop over delegates compares it with two
  /// numbers.
  @usableFromInline static var isPlaced: UInt8 { 4 }
  /// The calls of the entry, a delegate's, are measured. As ``isPlaced`` it is not one of the two
  /// numbers, so the loop does not ask for it.
  @usableFromInline static var isMeasured: UInt8 { 32 }
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

  // Not `@inline(__always)`: inlined too early, an existential without a class bound is copied.
  @inlinable
  borrowing func pass<R, E>(to body: (Value) throws(E) -> R) throws(E) -> R {
    try body(value)
  }
}

// MARK: - Layout

extension Entry {
  /// The offset of the head from the object: the size of the object's own header.
  @usableFromInline static var headOffset: Int { 16 }

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
    // By its offset: also of an entry that is dead, of which a caller keeps the memory.
    @inlinable get {
      (toOpaque() + Entry.headOffset).assumingMemoryBound(to: EntryHead.self)
    }
  }
}

extension EntryHead {
  /// See `Entry.isDead`.
  var isDead: Bool { isWeak && WeakReference(word: target).isDead }

  /// The address of the target, which may be dead if it is weak.
  var address: Int {
    isWeak ? WeakReference(word: target).address : Int(bitPattern: target)
  }
}

// MARK: - The mailbox

extension Entry {
  var mailbox: Mailbox? {
    // SAFETY: the entry owns its mailbox.
    head.pointee.mailbox?.takeUnretainedValue()
  }

  /// The mailbox, which is `makeMailbox()` if the entry had none.
  func mailbox(or makeMailbox: () -> Mailbox) -> Mailbox {
    if let mailbox { return mailbox }
    let new = makeMailbox()
    let bits = head.pointee.mailboxBits
    // Another thread may have set one since.
    if bits & 1 == 0, let mailbox { return mailbox }
    new.adopt(OriginWord(bits: bits))
    let desired = EntryHead.retainedBits(new)
    let isSet = BlockCounts.shared.withoutChanges {
      // A thread that changes this later finds the mailbox, and tells it.
      new.state.isBlocked = isBlocked
      // Releases the contents of the new mailbox; acquires those of another thread's.
      return head.pointee.mailboxReference.compareExchange(
        expected: bits, desired: desired, ordering: .acquiringAndReleasing
      ).exchanged
    }
    if isSet { return new }
    new.disownOrigin()
    Unmanaged.passUnretained(new).release()
    return mailbox ?? new
  }

  /// Whether this entry gives its delegate something that `existing`, of the same delegate, does
  /// not: a strong reference, a queue, another queue, another buffering, or later calls, if a full
  /// buffer has ended the existing one.
  func extendsTerms(of existing: Entry) -> Bool {
    if existing.head.pointee.isWeak && !head.pointee.isWeak { return true }
    guard let other = existing.mailbox else { return mailbox != nil }
    if other.end != nil { return true }
    return mailbox.map { !$0.hasTerms(of: other) } ?? false
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
  /// it was removed before, or if its owner is gone. Never call it inside a critical section: it
  /// may release the last reference to the owner.
  ///
  /// - Returns: whether this call has recorded it.
  func markFinished() -> Bool {
    // Held, so that what has ended the entry first counts.
    let owner = head.pointee.isWeak ? WeakReference(word: head.pointee.target).promote() : nil
    guard !head.pointee.isWeak || owner != nil else { return false }
    defer { owner?.release() }
    // Relaxed: the caller removes the entry, which releases.
    var state = head.pointee.state.load(ordering: .relaxed)
    while EntryHead.isActive(state), state & EntryHead.finished == 0 {
      let (isMarked, current) = head.pointee.state.weakCompareExchange(
        expected: state, desired: state | EntryHead.finished, ordering: .relaxed)
      if isMarked { return true }
      state = current
    }
    return false
  }

  /// The content of a thread's frame while it calls this entry. The thread that compares it keeps
  /// the memory of the entry, so no other entry can have the same address.
  var identity: UnsafeRawPointer {
    UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
  }

  /// Discards what waits in the mailbox of a removed entry. Runs user code: never call it inside a
  /// critical section.
  func discardPending() {
    // SAFETY: the entry owns its mailbox.
    head.pointee.mailbox?._withUnsafeGuaranteedRef { $0.cancel(self) }
  }

  /// Whether the target is weak and its deinitialisation has begun. Never call it inside a critical
  /// section, as ``isLive``.
  var isDead: Bool { head.pointee.isDead }

  /// Whether the target is known to be dead, which may be found out anywhere: it is not retained.
  /// With portable weak references that is never known.
  var isKnownDead: Bool {
    head.pointee.isWeak && WeakReference(word: head.pointee.target).isKnownDead
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
      mailbox?.requireInlineCall(of: delegateType(object.takeUnretainedValue()))
    }
    return value.pointee.value
  }
}
