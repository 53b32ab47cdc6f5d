// One invocation on one thread: it calls entries, and shows other threads which one it is calling.

public import CMulticast
public import Synchronization

/// One of the passes of an invocation over the same entries.
@usableFromInline
struct Pass {
  /// From zero.
  @usableFromInline let index: Int
  @usableFromInline let count: Int

  @inlinable @inline(__always)
  init(_ index: Int, of count: Int) {
    self.index = index
    self.count = count
  }
}

/// What an invocation does with the value of an entry. It matters for entries with a mailbox only.
@usableFromInline
enum Access {
  /// Calls it directly, though it may have been added with a place where to call it.
  case call
  /// Calls it directly, unless it was added with a place where to call it.
  case callIfUnplaced
  /// Appends to the mailbox. The target is not retained.
  case enqueue
  /// Returns it, also that of an entry that is blocked.
  case read
}

/// One invocation on one thread.
@usableFromInline
struct Invocation {
  @usableFromInline let thread: ThreadCallStack.Pointer
  /// Shows other threads which entry this invocation is calling; see `ThreadCallStack`.
  @usableFromInline let frame: UnsafeMutablePointer<ThreadCallStack.Frame>
  @usableFromInline let lightBarrierIsFence: Bool
  @usableFromInline var sawDead = false

  @inlinable @inline(__always)
  init(_ thread: ThreadCallStack.Pointer) {
    self.thread = thread
    // SAFETY: `ThreadCallStack.current` has a free frame, and only this thread uses its frames.
    frame = thread.pointee.top
    thread.pointee.top = frame + 1
    thread.pointee.invocationTally = 0
    lightBarrierIsFence = cmulticast_light_barrier_must_fence()
  }

  /// The last callback is over; a thread that waits for it must not wait for what follows.
  @inlinable @inline(__always)
  func closeCall() {
    // Releasing: as in `pass`.
    frame.pointee.store(nil, ordering: .releasing)
  }

  /// Closes the frame.
  @inlinable @inline(__always)
  func end() {
    // Releasing: what the callbacks did happened before a waiter finds the frame empty.
    frame.pointee.store(nil, ordering: .releasing)
    thread.pointee.top = frame
  }

  /// Passes the value of `entry` to `body` if the entry is still active and its target alive.
  ///
  /// - Returns: whether to continue.
  @inlinable @inline(__always)
  mutating func pass<Value, E>(
    _ entry: Unmanaged<Entry>, access: Access, to body: (Value) throws(E) -> Bool
  ) throws(E) -> Bool {
    try pass(entry, access: access, otherwise: true) {
      (head: UnsafeMutablePointer<EntryHead>) throws(E) in
      try Entry.value(head, as: Value.self).pointee.pass(to: body)
    }
  }

  /// Runs `body` if `entry` is still active and its target alive, and keeps the target until `body`
  /// returns.
  ///
  /// - Returns: the result of `body`, or `skipped` if it was not run.
  @inlinable @inline(__always)
  mutating func pass<R, E>(
    _ entry: Unmanaged<Entry>, access: Access, otherwise skipped: R,
    _ body: (UnsafeMutablePointer<EntryHead>) throws(E) -> R
  ) throws(E) -> R {
    let head = entry.head
    // Releasing: what the last callback did happened before a waiter finds another entry here.
    frame.pointee.store(UnsafeRawPointer(entry.toOpaque()), ordering: .releasing)
    cmulticast_barrier_light(lightBarrierIsFence)
    // Acquiring: pairs with the thread that removed the entry.
    let state = head.pointee.state.load(ordering: .acquiring)
    perturb()
    let target: Unmanaged<AnyObject>?
    if _fastPath(state == EntryHead.activeStrong) {
      target = nil
    } else if state == EntryHead.activeWeak {
      guard let promoted = WeakReference(word: head.pointee.target).promote() else {
        sawDead = true
        return skipped
      }
      target = promoted
    } else {
      guard access == .read ? EntryHead.isActive(state) : EntryHead.isCallable(state) else {
        if Invocation.isBlockedAndDead(head) { sawDead = true }
        return skipped
      }
      if access == .callIfUnplaced && head.pointee.placedMailbox != nil { return skipped }
      if access == .enqueue {
        // Retains nothing: the read section or the snapshot holds the entry, and a sender that only
        // appends must not become the last owner of the target.
        guard !head.pointee.isWeak || !Invocation.isDead(head) else {
          sawDead = true
          return skipped
        }
        target = nil
      } else {
        switch hold(entry, isCalled: access != .read) {
        case .dead:
          sawDead = true
          return skipped
        case .held(let retained): target = retained
        }
      }
    }
    // If this is the last release, the delegate's `deinit` runs here, outside of any lock.
    defer { target?.release() }
    // The only call of `body`: of two, the compiler inlines one, and makes a closure for the other.
    return try body(head)
  }

  /// Whether the weak target of an entry is dead.
  @usableFromInline @inline(never)
  static func isDead(_ head: UnsafeMutablePointer<EntryHead>) -> Bool {
    WeakReference(word: head.pointee.target).isDead
  }

  /// Whether an entry that may not be called is blocked, and its target dead.
  @usableFromInline @inline(never)
  static func isBlockedAndDead(_ head: UnsafeMutablePointer<EntryHead>) -> Bool {
    // Acquiring: as in `pass`.
    EntryHead.isActive(head.pointee.state.load(ordering: .acquiring)) && head.pointee.isDead
  }

  /// Shows on the call stack of this thread that what follows is done for `entry`.
  @inline(__always)
  func show(_ entry: Unmanaged<Entry>) {
    frame.pointee.store(UnsafeRawPointer(entry.toOpaque()), ordering: .releasing)  // As in `pass`.
    cmulticast_barrier_light(lightBarrierIsFence)
  }

  /// As ``pass(_:access:otherwise:_:)``, for the consumer of a mailbox.
  mutating func passForMailbox(
    _ entry: Unmanaged<Entry>, _ body: (UnsafeMutablePointer<EntryHead>) -> Void
  ) {
    let head = entry.head
    show(entry)
    let state = head.pointee.state.load(ordering: .acquiring)  // As in `pass`.
    perturb()
    guard EntryHead.isActive(state) else { return }
    guard head.pointee.isWeak else { return body(head) }
    guard let target = WeakReference(word: head.pointee.target).promote() else {
      sawDead = true
      return
    }
    defer { target.release() }  // As in `pass`.
    body(head)
  }

  /// Whether `entry` is active and not blocked, and its target alive. The target is not retained:
  /// the caller must not become its last owner.
  mutating func admits(_ entry: Unmanaged<Entry>) -> Bool {
    // Acquiring: as in `pass`.
    let state = entry.head.pointee.state.load(ordering: .acquiring)
    guard EntryHead.isCallable(state) else {
      if EntryHead.isActive(state) { _ = hasLiveTarget(entry) }  // A blocked one may be dead.
      return false
    }
    return hasLiveTarget(entry)
  }

  /// Whether `entry` is active, perhaps blocked, and its target alive, which is not retained.
  mutating func isLive(_ entry: Unmanaged<Entry>) -> Bool {
    // Acquiring: as in `pass`.
    EntryHead.isActive(entry.head.pointee.state.load(ordering: .acquiring)) && hasLiveTarget(entry)
  }

  private mutating func hasLiveTarget(_ entry: Unmanaged<Entry>) -> Bool {
    guard entry.head.pointee.isDead else { return true }
    sawDead = true
    return false
  }

  /// Puts `call` into the mailbox of `entry` if the entry is still active and its target alive.
  ///
  /// The delivery checks again whether the target is alive.
  ///
  /// - Returns: whether it was enqueued.
  @usableFromInline
  mutating func enqueue(
    _ call: Envelope, for entry: Unmanaged<Entry>, in mailbox: Unmanaged<Mailbox>
  ) -> Bool {
    // Releasing: as in `pass`. The last callback is over; a thread that waits for it must not wait
    // for this.
    frame.pointee.store(nil, ordering: .releasing)
    guard admits(entry) else { return false }
    // SAFETY: the read section or the snapshot holds the entry, which owns the mailbox.
    return mailbox._withUnsafeGuaranteedRef { $0.enqueue(call, for: entry) }
  }
}

/// Whether a placed or measured entry can be called.
@usableFromInline
enum Hold {
  case dead
  /// With what must be released after the call, if anything: the target, or an object in its place.
  case held(Unmanaged<AnyObject>?)
}

/// Keeps the target of a placed or measured entry for a call.
///
/// Not a method: where one does not read `self`, the compiler makes a second function without it,
/// and each call goes through both.
///
/// - Parameter isCalled: whether this thread calls the target then.
@usableFromInline @inline(never)
func hold(_ entry: Unmanaged<Entry>, isCalled: Bool) -> Hold {
  let head = entry.head
  if isCalled && !head.pointee.isWeak && head.pointee.mailbox == nil,
    let timer = head.pointee.timer
  {
    return .held(TimedTarget.beginCall(timer, nil))
  }
  // SAFETY: an active entry owns its target, if that is strong.
  let target =
    head.pointee.isWeak
    ? WeakReference(word: head.pointee.target).promote()
    : Unmanaged<AnyObject>.fromOpaque(head.pointee.target).retain()
  guard let target else { return .dead }
  guard isCalled else { return .held(target) }
  head.pointee.mailbox?._withUnsafeGuaranteedRef {
    $0.requireInlineCall(
      of: entry.takeUnretainedValue().delegateType(target.takeUnretainedValue()))
  }
  guard let timer = head.pointee.timer else { return .held(target) }
  return .held(TimedTarget.beginCall(timer, target))
}
