// Deferred freeing of objects that readers may still use.
//
// A writer unlinks an object from a structure that readers traverse, and retires it. The object may
// be freed when every reader that was inside a read section at that time has left. No thread waits
// for that: the thread that retires an object checks at once, and so do readers that leave.
//
//     retired ──take──▶ newer ──drained, flip──▶ older ──drained, flip──▶ freed
//
// "Drained" means: the counters of the column that new readers do not use were all found at zero.
// After two such observations with a flip between them, both columns have been at zero at some
// moment after the object was retired. That is the condition given in `ReadIndicator`.
//
// The lists belong to the collector, a role that one thread at a time has. `role` is one of:
//
//     idle        nothing is retired
//     pending     an object is retired, and readers are inside
//     collecting  a thread is the collector
//     recheck     the same, and another thread has asked it to check once more
//
//     idle or pending ──▶ collecting ◀──▶ recheck
//            ▲                │
//            └────────────────┘
//
// No check is missed: a reader first counts itself out and then loads the role. The collector first
// writes the role and then reads the counters, or finds `recheck` when it gives the role up. All
// are sequentially consistent, so either the collector finds that the reader has left, or the
// reader finds that the role is not idle.

public import Synchronization

/// An unlinked object that waits for its last reader: a link of a list.
@usableFromInline
final class Retired {
  fileprivate let object: AnyObject
  /// The rest of the list, retained. Only the owner of the list uses it.
  fileprivate var next: Unmanaged<Retired>?

  init(_ object: AnyObject) {
    self.object = object
  }
}

/// The retired objects of one structure, and the read indicator that tells when to free them.
///
/// ## Thread safety
/// Every operation may be called from any thread, but never inside a critical section: freeing an
/// object may run user code.
@usableFromInline
struct Reclaimer: ~Copyable, @unchecked Sendable {
  // Sendable: only the collector uses `lists`, and the role passes from thread to thread with
  // acquire and release. Everything else is atomic.

  /// The readers that may hold an object retired here.
  @usableFromInline let readers = ReadIndicator()
  /// One of `idle`, `pending`, `collecting` and `recheck`; see the head of this file.
  @usableFromInline let role = Atomic<UInt8>(Reclaimer.idle)

  private let retired = Atomic<Unmanaged<Retired>?>(nil)
  private let lists: UnsafeMutablePointer<(newer: RetiredList, older: RetiredList)>

  @usableFromInline static var idle: UInt8 { 0 }
  private static var pending: UInt8 { 1 }
  private static var collecting: UInt8 { 2 }
  private static var recheck: UInt8 { 3 }

  init() {
    lists = .allocate(capacity: 1)
    lists.initialize(to: (RetiredList(), RetiredList()))
  }

  /// Frees what is left. There are no readers any more.
  deinit {
    // Relaxed would be enough: the runtime orders a `deinit` after every use of the object.
    // Acquiring, because it is loaded once: the links and their objects.
    lists.pointee.newer.prepend(RetiredList(retired.load(ordering: .acquiring)))
    lists.pointee.older.prepend(lists.pointee.newer)
    lists.pointee.older.free()
    lists.deallocate()
  }
}

extension Reclaimer {
  /// Frees `object` once no reader can hold it: at once if there is no reader, otherwise when the
  /// last one leaves.
  ///
  /// - Precondition: a sequentially consistent store has unlinked `object`.
  /// - Complexity: O(stripes), plus the objects freed.
  borrowing func retire(_ object: AnyObject) {
    let link = Retired(object)
    let unmanaged = Unmanaged.passRetained(link)
    // Relaxed: a guess, which the exchange checks; nothing is read through it.
    var head = retired.load(ordering: .relaxed)
    while true {
      link.next = head
      // Releases the link, and acquires the last exchange of a collector: one that is asked to check
      // again must find the link. Sequentially consistent, because that costs no more on ARM64 than
      // acquiring and releasing. The list is taken as a whole, so there is no ABA.
      let (pushed, latest) = retired.compareExchange(
        expected: head, desired: unmanaged, ordering: .sequentiallyConsistent)
      if pushed { break }
      head = latest
    }
    collect()
  }

  /// Runs `body` inside a read section: no object that it finds is freed before it returns.
  @inlinable @inline(__always)
  borrowing func withReadSection<R, E>(
    _ thread: ThreadCallStack.Pointer, _ body: () throws(E) -> R
  ) throws(E) -> R {
    let ticket = readers.enter(thread)
    defer { leave(ticket) }
    return try body()
  }

  /// Counts the reader out, and collects if retired objects wait for it.
  @inlinable @inline(__always)
  borrowing func leave(_ ticket: ReadIndicator.Ticket) {
    readers.leave(ticket)
    // Sequentially consistent: see the head of this file.
    if role.load(ordering: .sequentiallyConsistent) != Self.idle { leftWhilePending(ticket) }
  }

  /// Collects if the collector waits for the column that the reader left.
  @usableFromInline @inline(never)
  borrowing func leftWhilePending(_ ticket: ReadIndicator.Ticket) {
    if readers.isDraining(ticket) { collect() }
  }

  /// Frees what no reader can hold, or asks the current collector to check again.
  private borrowing func collect() {
    // Sequentially consistent: if it is `recheck`, the collector has yet to check once more and
    // will see what this thread did before. Any other value is a guess, which the exchange checks.
    var observed = role.load(ordering: .sequentiallyConsistent)
    while true {
      if observed == Self.recheck { return }
      let desired = observed == Self.collecting ? Self.recheck : Self.collecting
      // Acquires the lists from the last collector; sequentially consistent, see the head of this
      // file.
      let (exchanged, latest) = role.compareExchange(
        expected: observed, desired: desired, ordering: .sequentiallyConsistent)
      if exchanged { break }
      observed = latest
    }
    if observed == Self.collecting { return }
    var unreachable = RetiredList()
    var again = true
    while again {
      let isIdle = advance(&unreachable)
      // Releases the lists to the next collector; if this fails, another thread has asked for a
      // recheck. Releasing would be enough, because the store below and the loads of the counters are
      // sequentially consistent. So is this, because only collectors execute it.
      again = !role.compareExchange(
        expected: Self.collecting, desired: isIdle ? Self.idle : Self.pending,
        ordering: .sequentiallyConsistent
      ).exchanged
      // Sequentially consistent: a thread that found `recheck` did so before the next `advance`.
      if again { role.store(Self.collecting, ordering: .sequentiallyConsistent) }
    }
    unreachable.free()
  }

  /// Moves retired objects from list to list until none is left, or a column is not drained.
  ///
  /// - Returns: whether nothing is left.
  private borrowing func advance(_ unreachable: inout RetiredList) -> Bool {
    while true {
      // Acquires the links and their objects, and releases the write of the role to the threads that
      // retire an object later. Sequentially consistent, because that costs no more on ARM64.
      lists.pointee.newer.prepend(
        RetiredList(retired.exchange(nil, ordering: .sequentiallyConsistent)))
      if lists.pointee.newer.isEmpty && lists.pointee.older.isEmpty { return true }
      perturb()
      guard readers.isDrained() else { return false }
      perturb()
      unreachable.prepend(lists.pointee.older)
      lists.pointee.older = lists.pointee.newer
      lists.pointee.newer = RetiredList()
      readers.flip()
    }
  }
}

/// A singly linked list of retired objects.
private struct RetiredList {
  private var first: Unmanaged<Retired>?

  init(_ first: Unmanaged<Retired>? = nil) {
    self.first = first
  }

  var isEmpty: Bool { first == nil }

  /// Inserts `other` at the front.
  ///
  /// - Complexity: O(length of `other`).
  mutating func prepend(_ other: RetiredList) {
    guard let otherFirst = other.first else { return }
    defer { first = otherFirst }
    guard let first else { return }
    var last = otherFirst
    while let next = last._withUnsafeGuaranteedRef({ $0.next }) { last = next }
    last._withUnsafeGuaranteedRef { $0.next = first }
  }

  /// Releases every link in a loop: nested releases would exhaust the stack.
  mutating func free() {
    while let link = first {
      first = link._withUnsafeGuaranteedRef { $0.next }
      link.release()
    }
  }
}
