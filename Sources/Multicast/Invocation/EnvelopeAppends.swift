// The sender's side of mailboxes: one envelope for the mailboxes of many entries.
//
// The mailboxes of one actor share a lock. An invocation collects their entries, up to 64, and
// appends to all of them in one critical section, which it enters before it runs user code or leaves
// the read section.

internal import Synchronization

/// Appends one envelope to the mailboxes of the entries that an invocation passes.
@usableFromInline
struct EnvelopeAppends {
  /// What to append. Made for the first mailbox.
  @usableFromInline var envelope: Envelope?
  /// The number of mailboxes in which the envelope waits.
  @usableFromInline private(set) var delivered = 0
  /// The number of entries that were collected.
  @usableFromInline private(set) var count = 0
  /// The lane of their mailboxes.
  private var lane: Unmanaged<ActorLane>?

  /// The number of entries that are collected at most.
  private static var capacity: Int { 64 }

  @usableFromInline
  init() {}
}

extension EnvelopeAppends {
  /// Appends the envelope, which was made, to `mailbox` if `entry` is active and its target alive;
  /// at the latest at the next ``flush(_:)``.
  @usableFromInline
  mutating func add(
    to mailbox: Unmanaged<Mailbox>, of entry: Unmanaged<Entry>, _ invocation: inout Invocation
  ) {
    // SAFETY: the invocation holds the entry, which owns the mailbox, and that keeps its lane.
    guard let lane = mailbox._withUnsafeGuaranteedRef({ $0.lockOwner }) else {
      if let envelope, invocation.enqueue(envelope, for: entry, in: mailbox) { delivered += 1 }
      return
    }
    if count == Self.capacity || self.lane?.toOpaque() != lane.toOpaque() {
      flush(invocation.thread)
      self.lane = .fromOpaque(lane.toOpaque())  // Only a lane shares its lock.
    }
    if count == 0 { invocation.closeCall() }
    guard invocation.admits(entry) else { return }
    buffer(invocation.thread)[count] = entry
    count += 1
  }

  /// Appends the envelope to the mailboxes that were collected. Call it before user code runs, and
  /// before the invocation ends.
  @inlinable @inline(__always)
  mutating func flush(_ thread: ThreadCallStack.Pointer) {
    if count > 0 { appendAll(thread) }
  }

  @usableFromInline @inline(never)
  mutating func appendAll(_ thread: ThreadCallStack.Pointer) {
    let entries = UnsafeMutableBufferPointer(start: buffer(thread), count: count)
    count = 0
    // SAFETY: the invocation holds the entries, whose mailboxes keep the lane.
    guard let lane, let envelope else { return }
    delivered += lane._withUnsafeGuaranteedRef { $0.append(envelope, to: entries) }
  }

  /// The memory of the thread for the entries. No user code runs between ``add(to:of:_:)`` and
  /// ``flush(_:)``, so only one invocation of the thread at a time uses it.
  private func buffer(_ thread: ThreadCallStack.Pointer) -> UnsafeMutablePointer<Unmanaged<Entry>> {
    // SAFETY: only used for entries. A stack is never freed, and so is this memory.
    if let memory = thread.pointee.entryBuffer {
      return memory.assumingMemoryBound(to: Unmanaged<Entry>.self)
    }
    let memory = UnsafeMutablePointer<Unmanaged<Entry>>.allocate(capacity: Self.capacity)
    thread.pointee.entryBuffer = UnsafeMutableRawPointer(memory)
    return memory
  }
}
