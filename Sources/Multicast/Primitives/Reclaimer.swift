// Deferred freeing of objects that readers may still use.
//
// A writer unlinks an object from a structure that readers traverse, and retires it. The object may
// be freed when every reader that was inside a read section at that time has left. No thread waits
// for that: the thread that retires an object checks at once, and so do readers that leave.
//
// A structure that is read often and seldom changed is *biased* towards readers (Dice and Kogan,
// BRAVO, 2019): a reader writes nothing that another thread writes.
//
//     reader                                      collector, after unlinking an object
//     section.store(structure)                    mode.store(revoked)
//     light barrier                               heavy barrier
//     mode.load() == biased?                      section.load() == structure?
//     …
//     section.store(nil)
//     light barrier
//     role.load() == idle?
//
// The section is a word of the reader's own `ThreadCallStack`. The barriers ensure that the
// collector finds the section, or the reader finds the mode; and when the reader leaves, that the
// collector finds that it has left, or the reader finds the role. A reader that does not find the
// structure biased counts itself in a `ReadIndicator`. So after the barrier every biased reader is
// in a section, and each check of all sections finds those that are still inside. `mode` is one of:
//
//     biased   readers use sections
//     revoked  a biased reader may be inside, new readers are counted
//     counted  no reader is in a section; objects were retired since the last check for quiet
//     quiet    the same, and none was retired
//
//     biased ──retire──▶ revoked ──no section──▶ counted ──check──▶ quiet ──check──▶ biased
//                                                   ▲                 │
//                                                   └──────retire─────┘
//
// Revoking costs a heavy barrier, which interrupts every running thread of the process. So the
// structure is biased again only if nothing was retired for a multiple of what the revocation took.
// Readers check for that, rarely, as the collector. A new structure is counted too: one that is
// seldom read before it is destroyed never pays for a barrier. Where the light barrier would be a
// fence, no structure is ever biased.
//
// The reader's load of the mode acquires, and the store that makes a structure biased releases: a
// reader that relies on the new bias also finds everything that was unlinked before.
//
//     retired ──take──▶ newer ──drained, flip──▶ older ──drained, flip──▶ freed
//                         └─────────────────drained twice────────────────▶ freed
//
// "Drained" means: the counters of the column that new readers do not use were all found at zero,
// and no section has the structure. After two such observations with a flip between them, both
// columns have been at zero at some moment after the object was retired. That is the condition
// given in `ReadIndicator`. If no reader is inside, the collector finds the other column at zero
// too, and needs no flip.
//
// The lists and the mode belong to the collector, a role that one thread at a time has. `role` is
// one of:
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
// A thread that retires an object becomes the collector, and adds the object to `newer` itself. If
// another thread is the collector, it pushes the object to `retired` and asks for a check.
//
// No check is missed: a reader first counts itself out and then loads the role. The collector first
// writes the role and then reads the counters, or finds `recheck` when it gives the role up. All
// are sequentially consistent, so either the collector finds that the reader has left, or the
// reader finds that the role is not idle.

internal import CMulticast
public import Synchronization

/// The retired objects of one structure, and its readers.
///
/// ## Thread safety
/// Every operation may be called from any thread, but never inside a critical section: freeing an
/// object may run user code.
@usableFromInline
struct Reclaimer: ~Copyable, Sendable {
  /// The address of the structure: identifies it in the sections of threads.
  @usableFromInline typealias Structure = UnsafeRawPointer

  // In this order: what readers use is together, and the whole takes 48 bytes in every hub.

  /// The readers that are counted.
  let readers = ReadIndicator()
  /// One of `biased`, `revoked`, `counted` and `quiet`; see the head of this file.
  @usableFromInline let mode = Atomic<UInt8>(Reclaimer.quiet)
  /// One of `idle`, `pending`, `collecting` and `recheck`; see the head of this file.
  @usableFromInline let role = Atomic<UInt8>(Reclaimer.idle)

  // Relaxed: only the collector uses the following, except `retired`, and the role passes from
  // thread to thread with acquire and release.
  /// The nanoseconds that the last revocation took.
  let revocationTime = Atomic<UInt32>(0)
  private let retired = Atomic<RetiredList.Link>(0)
  private let newer = Atomic<RetiredList.Link>(0)
  private let older = Atomic<RetiredList.Link>(0)
  /// When a check found that objects were retired, in nanoseconds.
  let quietSince = Atomic<UInt64>(0)

  @usableFromInline static var biased: UInt8 { 0 }
  static var revoked: UInt8 { 1 }
  static var counted: UInt8 { 2 }
  static var quiet: UInt8 { 3 }

  @usableFromInline static var idle: UInt8 { 0 }
  private static var pending: UInt8 { 1 }
  static var collecting: UInt8 { 2 }
  private static var recheck: UInt8 { 3 }

  init() {}

  /// Frees what is left. There are no readers any more.
  deinit {
    // Relaxed would be enough: the runtime orders a `deinit` after every use of the object.
    // Acquiring, because it is loaded once: the links and their objects.
    var rest = RetiredList(retired.load(ordering: .acquiring))
    rest.prepend(RetiredList(newer.load(ordering: .relaxed)))
    rest.prepend(RetiredList(older.load(ordering: .relaxed)))
    rest.free()
  }
}

// MARK: - Collecting

extension Reclaimer {
  /// Frees `object` once no reader can hold it, as ``retire(_:of:)`` does.
  borrowing func retire(_ object: AnyObject, of structure: Structure) {
    retire(RetiredLink(object), of: structure)
  }

  /// The same, without an allocation.
  borrowing func retire(_ object: RetiredObject, of structure: Structure) {
    retire(object.list, of: structure)
  }

  /// Frees `objects` once no reader can hold them: at once if there is no reader, otherwise when
  /// the last one leaves.
  ///
  /// - Precondition: sequentially consistent stores have unlinked `objects`.
  /// - Complexity: O(stripes), plus the objects freed; O(threads) if a reader since the last time
  ///   was not counted.
  borrowing func retire(_ objects: RetiredList, of structure: Structure) {
    guard !objects.isEmpty else { return }
    // Relaxed: a guess, which the exchange checks.
    let observed = role.load(ordering: .relaxed)
    if _fastPath(observed == Self.idle || observed == Self.pending) {
      // Sequentially consistent: as in `collect`.
      let (exchanged, _) = role.compareExchange(
        expected: observed, desired: Self.collecting, ordering: .sequentiallyConsistent)
      if _fastPath(exchanged) { return collectAndLeaveRole(structure, retiring: objects) }
    }
    push(objects)
    collect(structure)
  }

  /// Leaves `objects` to the collector.
  private borrowing func push(_ objects: RetiredList) {
    let last = objects.last
    // Relaxed: a guess, which the exchange checks; nothing is read through it.
    var head = retired.load(ordering: .relaxed)
    while true {
      RetiredList.setNext(of: last, to: head)
      // Releases the links. Sequentially consistent, as are the role and the collector's load: one
      // that is asked to check again finds them. The list is taken as a whole, so there is no ABA.
      let (pushed, latest) = retired.compareExchange(
        expected: head, desired: objects.first, ordering: .sequentiallyConsistent)
      if pushed { return }
      head = latest
    }
  }

  /// Frees what no reader can hold, or asks the current collector to check again.
  borrowing func collect(_ structure: Structure) {
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
    if observed != Self.collecting { collectAndLeaveRole(structure) }
  }

  /// Frees what no reader can hold, as the collector, and gives up the role.
  ///
  /// - Parameter objects: further ones, which this thread has unlinked.
  borrowing func collectAndLeaveRole(
    _ structure: Structure, retiring objects: RetiredList = RetiredList()
  ) {
    if !objects.isEmpty {
      var newest = RetiredList(newer.load(ordering: .relaxed))
      newest.prepend(objects)
      newer.store(newest.first, ordering: .relaxed)
    }
    var unreachable = RetiredList()
    var again = true
    while again {
      let isIdle = advance(structure, &unreachable)
      // Releases the lists to the next collector; if this fails, another thread has asked for a
      // recheck. Releasing would be enough, because the store below and the loads of the counters
      // are sequentially consistent. So is this, because only collectors execute it.
      again = !role.compareExchange(
        expected: Self.collecting, desired: isIdle ? Self.idle : Self.pending,
        ordering: .sequentiallyConsistent
      ).exchanged
      // Sequentially consistent: a thread that found `recheck` did so before the next `advance`.
      if again { role.store(Self.collecting, ordering: .sequentiallyConsistent) }
    }
    unreachable.free()
  }

  /// Moves retired objects from list to list until none is left, or a reader may hold one.
  ///
  /// - Returns: whether nothing is left.
  private borrowing func advance(_ structure: Structure, _ unreachable: inout RetiredList) -> Bool {
    while true {
      let taken = takeNewer()
      let waiting = RetiredList(older.load(ordering: .relaxed))
      if taken.isEmpty && waiting.isEmpty { return true }
      perturb()
      guard isWithoutSections(structure), readers.isDrained() else { return false }
      perturb()
      unreachable.prepend(waiting)
      newer.store(0, ordering: .relaxed)
      if readers.isCurrentDrained() {
        unreachable.prepend(taken)
        older.store(0, ordering: .relaxed)
        return true
      }
      older.store(taken.first, ordering: .relaxed)
      readers.flip()
    }
  }

  /// Adds what other threads have retired to `newer`, and returns it.
  private borrowing func takeNewer() -> RetiredList {
    var taken = RetiredList(newer.load(ordering: .relaxed))
    // Sequentially consistent, as is the push: a thread that relies on this check finds that the
    // role is taken, or this finds its objects.
    guard retired.load(ordering: .sequentiallyConsistent) != 0 else { return taken }
    // Acquires the links and their objects.
    taken.prepend(RetiredList(retired.exchange(0, ordering: .acquiring)))
    newer.store(taken.first, ordering: .relaxed)
    return taken
  }

  /// Revokes the bias, and returns whether no reader is in a section.
  private borrowing func isWithoutSections(_ structure: Structure) -> Bool {
    // Relaxed: only the collector changes it.
    switch mode.load(ordering: .relaxed) {
    case Self.biased: revoke()
    case Self.revoked: break
    case Self.quiet:
      mode.store(Self.counted, ordering: .relaxed)  // Relaxed: a reader counts itself in any case.
      return true
    default: return true
    }
    guard !ThreadCallStack.isRead(structure) else { return false }
    mode.store(Self.counted, ordering: .relaxed)  // Relaxed: likewise.
    return true
  }

  /// The nanoseconds that a revocation counts at most. A thread that was preempted meanwhile
  /// measures far more than the barrier took, and would keep readers counted for long.
  private static var longestRevocation: UInt64 { 100_000 }

  private borrowing func revoke() {
    let began = cmulticast_monotonic_nanoseconds()
    // Relaxed: the barrier orders it.
    mode.store(Self.revoked, ordering: .relaxed)
    perturb()
    cmulticast_barrier_heavy()
    let time = min(cmulticast_monotonic_nanoseconds() - began, Self.longestRevocation)
    // Relaxed: see their declarations.
    revocationTime.store(UInt32(time), ordering: .relaxed)
  }
}
