// When may what was unlinked be destroyed?
//
// A writer unlinks something from a structure that readers traverse, and retires it. It may be
// destroyed when every reader that was inside a read section at that time has left. Nobody waits
// for that: whoever retires something looks at once, and a reader that leaves looks again.
//
//     retired ──take──▶ newer ──drained, flip──▶ older ──drained, flip──▶ destroyed
//
// "Drained" is the observation that the counters of the phase which new readers do not use are all
// zero. What has been observed twice, with a flip between, has had both columns at zero since it
// was retired. That is the condition given in `ReadIndicator`.
//
// The two lists belong to whoever plays the role of the collector. The role is a word:
//
//     idle ─────▶ collecting ◀────▶ asked         idle: nothing is retired.
//      ▲              │  ▲            │           collecting: somebody holds the role.
//      │              ▼  └────────────┘           asked: … and has been asked to look once more.
//      └────────── pending                        pending: something is retired, readers are inside.
//
// No wake-up is lost: a reader first counts itself out and then loads the word, both sequentially
// consistent. The collector first writes the word and then looks at the counters, or finds on
// giving the role up that it was asked. So either it sees the reader gone, or the reader sees that
// it is waited for.

public import Synchronization

/// Something that was unlinked from a structure and waits for its last reader.
@usableFromInline
final class Retired {
  fileprivate let object: AnyObject
  /// The rest of the list, which owns a retain of it. Used by whoever holds the list.
  fileprivate var next: Unmanaged<Retired>?

  init(_ object: AnyObject) {
    self.object = object
  }
}

/// The retired things of one structure, and the counters that tell when to destroy them.
///
/// ## Thread safety
/// Every operation may be called from any thread, but never inside a critical section: what is
/// destroyed may run user code.
@usableFromInline
struct Reclaimer: ~Copyable, @unchecked Sendable {
  // Sendable: `newer` and `older` are touched by the holder of the role alone, and the role is
  // handed over with acquire and release. Everything else is atomic.

  /// The counters that guard whatever is retired here.
  @usableFromInline let readers = ReadIndicator()
  /// One of `idle`, `pending`, `collecting` and `asked`; see the head of this file.
  @usableFromInline let role = Atomic<UInt8>(Reclaimer.idle)

  private let retired = Atomic<Unmanaged<Retired>?>(nil)
  private let lists: UnsafeMutablePointer<(newer: RetiredList, older: RetiredList)>

  @usableFromInline static var idle: UInt8 { 0 }
  private static var pending: UInt8 { 1 }
  private static var collecting: UInt8 { 2 }
  private static var asked: UInt8 { 3 }

  init() {
    lists = .allocate(capacity: 1)
    lists.initialize(to: (RetiredList(), RetiredList()))
  }

  /// Destroys what is left. There are no readers any more.
  deinit {
    // Acquiring: the links and what they hold.
    lists.pointee.newer.append(RetiredList(retired.load(ordering: .acquiring)))
    lists.pointee.older.append(lists.pointee.newer)
    lists.pointee.older.destroy()
    lists.deallocate()
  }
}

extension Reclaimer {
  /// Destroys `object` once nobody inside a read section can hold it: at once if there is no
  /// reader, otherwise when the last one leaves.
  ///
  /// - Precondition: no reader can find `object` any more, by a sequentially consistent store.
  /// - Complexity: O(stripes), and what it destroys.
  borrowing func retire(_ object: AnyObject) {
    let link = Retired(object)
    let unmanaged = Unmanaged.passRetained(link)
    // Relaxed: a guess, which the exchange checks; nothing is read through it.
    var head = retired.load(ordering: .relaxed)
    while true {
      link.next = head
      // Releases the link; sequentially consistent, because a collector that is asked to look again
      // has to find it. The list is taken as a whole, so there is no ABA.
      let (pushed, latest) = retired.compareExchange(
        expected: head, desired: unmanaged, ordering: .sequentiallyConsistent)
      if pushed { break }
      head = latest
    }
    collect()
  }

  /// Runs `body` inside a read section: what it finds in the structure stays until it returns.
  @inlinable @inline(__always)
  borrowing func withReadSection<R, E>(
    _ thread: ThreadCallStack.Pointer, _ body: () throws(E) -> R
  ) throws(E) -> R {
    let ticket = readers.enter(thread)
    defer { leave(ticket) }
    return try body()
  }

  /// Counts the reader out, and looks whether somebody waits for it.
  @inlinable @inline(__always)
  borrowing func leave(_ ticket: ReadIndicator.Ticket) {
    readers.leave(ticket)
    // Sequentially consistent: see the head of this file.
    if role.load(ordering: .sequentiallyConsistent) != Self.idle { leftWhilePending(ticket) }
  }

  /// Collects if the reader that left is one of those that are waited for.
  @usableFromInline @inline(never)
  borrowing func leftWhilePending(_ ticket: ReadIndicator.Ticket) {
    if readers.isDraining(ticket) { collect() }
  }

  /// Destroys what nobody can hold, or asks the current collector to look again.
  private borrowing func collect() {
    // Sequentially consistent: if it is `asked`, the collector has yet to look once more, and will
    // see what we did before. Any other value is a guess, which the exchange checks.
    var observed = role.load(ordering: .sequentiallyConsistent)
    while true {
      let desired = observed == Self.collecting ? Self.asked : Self.collecting
      if observed == Self.asked { return }
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
      // Releases the lists to the next collector; sequentially consistent, see the head of this
      // file. If this fails, somebody has asked for another look.
      again = !role.compareExchange(
        expected: Self.collecting, desired: isIdle ? Self.idle : Self.pending,
        ordering: .sequentiallyConsistent
      ).exchanged
      // Sequentially consistent: whoever has found `asked` did so before the look that follows.
      if again { role.store(Self.collecting, ordering: .sequentiallyConsistent) }
    }
    unreachable.destroy()
  }

  /// Moves what was retired along while there is no reader in its way.
  ///
  /// - Returns: whether nothing is left.
  private borrowing func advance(_ unreachable: inout RetiredList) -> Bool {
    while true {
      // Acquires the links and what they hold; sequentially consistent, because it comes after the
      // role was written and before the counters are looked at.
      lists.pointee.newer.append(
        RetiredList(retired.exchange(nil, ordering: .sequentiallyConsistent)))
      if lists.pointee.newer.isEmpty && lists.pointee.older.isEmpty { return true }
      perturb()
      guard readers.isDrained() else { return false }
      perturb()
      unreachable.append(lists.pointee.older)
      lists.pointee.older = lists.pointee.newer
      lists.pointee.newer = RetiredList()
      readers.flip()
    }
  }
}

/// A list of retired things, linked through themselves.
private struct RetiredList {
  private var first: Unmanaged<Retired>?

  init(_ first: Unmanaged<Retired>? = nil) {
    self.first = first
  }

  var isEmpty: Bool { first == nil }

  /// Puts `other` in front.
  ///
  /// - Complexity: O(length of `other`).
  mutating func append(_ other: RetiredList) {
    guard let otherFirst = other.first else { return }
    defer { first = otherFirst }
    guard let first else { return }
    var last = otherFirst
    while let next = last._withUnsafeGuaranteedRef({ $0.next }) { last = next }
    last._withUnsafeGuaranteedRef { $0.next = first }
  }

  /// Releases every link, one after the other: nested releases would exhaust the stack.
  mutating func destroy() {
    while let link = first {
      first = link._withUnsafeGuaranteedRef { $0.next }
      link.release()
    }
  }
}
