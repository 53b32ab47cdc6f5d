// The sender's side of mailboxes: one envelope for the mailboxes of many entries.
//
// The mailboxes of one actor share a lock. An invocation collects their entries, up to 64, and
// appends to all of them in one critical section, which it enters before it calls a handler or
// leaves the read section.

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
  /// The run queue of their mailboxes.
  private var runQueue: Unmanaged<ActorRunQueue>?
  /// The entries that were collected; `nil` if there are none.
  private var entries: UnsafeMutablePointer<Unmanaged<Entry>>?

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
    // SAFETY: the invocation holds the entry, which owns the mailbox, and that keeps its run queue.
    guard let runQueue = mailbox._withUnsafeGuaranteedRef({ $0.lockOwner }) else {
      // What a full buffer drops runs its `deinit` here, which may invoke this hub.
      flush(invocation.thread)
      if let envelope, invocation.enqueue(envelope, for: entry, in: mailbox) { delivered += 1 }
      return
    }
    if count == Self.capacity || self.runQueue?.toOpaque() != runQueue.toOpaque() {
      flush(invocation.thread)
      self.runQueue = .fromOpaque(runQueue.toOpaque())  // Only a run queue shares its lock.
    }
    if count == 0 { invocation.closeCall() }
    guard invocation.admits(entry) else { return }
    let entries = entries ?? takeMemory(invocation.thread)
    self.entries = entries
    entries[count] = entry
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
    guard let entries, let runQueue, let envelope else { return }
    let collected = UnsafeMutableBufferPointer(start: entries, count: count)
    // SAFETY: the invocation holds the entries, whose mailboxes keep the run queue.
    delivered += runQueue._withUnsafeGuaranteedRef { $0.append(envelope, to: collected) }
    count = 0
    self.entries = nil
    returnMemory(entries, thread)
  }

  /// Memory for the entries, which this invocation owns until it has appended to them: user code
  /// may run in the meantime, such as the `deinit` of an event that a full buffer drops, and invoke
  /// hubs on the same thread.
  private func takeMemory(
    _ thread: ThreadCallStack.Pointer
  ) -> UnsafeMutablePointer<Unmanaged<Entry>> {
    guard let memory = thread.pointee.entryBuffer else { return .allocate(capacity: Self.capacity) }
    thread.pointee.entryBuffer = nil
    // SAFETY: it comes from `returnMemory`.
    return memory.assumingMemoryBound(to: Unmanaged<Entry>.self)
  }

  /// Leaves the memory to later invocations of the thread, which keeps it as long as its stack.
  private func returnMemory(
    _ memory: UnsafeMutablePointer<Unmanaged<Entry>>, _ thread: ThreadCallStack.Pointer
  ) {
    if thread.pointee.entryBuffer == nil {
      thread.pointee.entryBuffer = UnsafeMutableRawPointer(memory)
    } else {
      memory.deallocate()  // An invocation inside this one has left its own.
    }
  }
}
