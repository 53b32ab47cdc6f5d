// How many readers are inside a read section.
//
// A reader counts itself in before it loads what it reads, and out when it is done with it. The
// counters come in two columns, of which the current *phase* names the one that new readers use,
// and in stripes, so that readers on different processors write different cache lines.
//
//     reader                                      reclaimer, after something was unlinked
//     counter[phase].add(1)   (seq_cst)           counter.load() == 0   (seq_cst)
//     shared.load()           (seq_cst)
//     …
//     counter[phase].sub(1)   (seq_cst)
//
// Every operation above is sequentially consistent, and so is the store that unlinks: all of them
// have one total order. If the reclaimer finds a counter at zero *after* the unlinking, then a
// reader of that counter either left before the reclaimer looked, or its add comes later in the
// order; then its load comes later than the unlinking too, and it cannot find what was unlinked.
// Once every counter was seen at zero after the unlinking, at whatever different moments, nobody
// can hold what was unlinked. Phases play no part in this argument: a reader that read a stale
// phase is still counted. They are there for progress: the counters of the other phase only
// fall, apart from such late readers, so a stream of overlapping readers cannot keep the reclaimer
// waiting for ever. See Linux' sleepable RCU, and Ramalhete and Correia's Left-Right.

public import Synchronization

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Android)
  internal import Android
#endif

/// Counters of the readers inside read sections, on as many cache lines as contention asks for.
///
/// There is one small stripe until two threads meet on it. Then the counters grow, once, to two
/// padded stripes per processor. A thread whose compare-and-swap fails moves to the next stripe.
///
/// ## Thread safety
/// Every operation may be called from any thread.
@usableFromInline
struct ReadIndicator: ~Copyable {
  /// One counter.
  @usableFromInline typealias Counter = Atomic<Int>

  /// Where a reader has counted itself in.
  @usableFromInline typealias Ticket = UnsafeMutablePointer<Counter>

  /// The distance between stripes in bytes: two cache lines, because lines are fetched in pairs.
  @usableFromInline static var stride: Int { 128 }

  /// The column that new readers use: 0 or 1.
  @usableFromInline let phase = Atomic<Int>(0)

  // The base of a block is its first stripe. A stripe begins with its two counters. The word before
  // the base holds the number of stripes less one: a mask, because the number is a power of two.
  // A base is a multiple of 16, so bit 3 of a counter's address is its column. A block is never
  // freed before the counters are.
  private let small: UnsafeMutableRawPointer
  @usableFromInline let current: Atomic<UnsafeMutableRawPointer>

  init() {
    small = Self.makeBlock(stripes: 1, stride: 16, header: 16)
    current = Atomic(small)
  }

  deinit {
    // Relaxed: nobody else has the counters any more.
    let large = current.load(ordering: .relaxed)
    if large != small { Self.freeBlock(large, header: Self.stride) }
    Self.freeBlock(small, header: 16)
  }

  private static func makeBlock(stripes: Int, stride: Int, header: Int) -> UnsafeMutableRawPointer {
    // SAFETY: `header` and `stride` are multiples of 16, so each counter is aligned; the mask and
    // the counters of every stripe lie within what is allocated.
    let base =
      UnsafeMutableRawPointer.allocate(byteCount: header + stripes * stride, alignment: header)
      + header
    (base - 8).initializeMemory(as: Int.self, to: stripes - 1)
    for stripe in 0..<stripes {
      let counters = (base + stripe * stride).bindMemory(to: Counter.self, capacity: 2)
      counters.initialize(to: Counter(0))
      (counters + 1).initialize(to: Counter(0))
    }
    return base
  }

  private static func freeBlock(_ base: UnsafeMutableRawPointer, header: Int) {
    (base - header).deallocate()
  }
}

extension ReadIndicator {
  /// Counts the calling thread in. It may load shared pointers until ``leave(_:)``.
  @inlinable @inline(__always)
  borrowing func enter(_ thread: ThreadCallStack.Pointer) -> Ticket {
    // Sequentially consistent: a block that a reader may have used must be seen by a later scan.
    let base = current.load(ordering: .sequentiallyConsistent)
    // SAFETY: see the layout of a block above.
    let mask = (base - 8).assumingMemoryBound(to: Int.self).pointee
    // Relaxed: a stale phase delays the reclaimer but cannot mislead it.
    let column = phase.load(ordering: .relaxed)
    perturb()
    let ticket =
      (base + (thread.pointee.stripe & mask) &* Self.stride).assumingMemoryBound(to: Counter.self)
      + column
    // Relaxed: a guess, which the exchange checks.
    let count = ticket.pointee.load(ordering: .relaxed)
    // Sequentially consistent: see the head of this file.
    let (exchanged, _) = ticket.pointee.compareExchange(
      expected: count, desired: count &+ 1, ordering: .sequentiallyConsistent)
    if !exchanged { enterContended(thread, ticket) }
    return ticket
  }

  /// Counts the calling thread in where it has just met another one, and avoids the next meeting.
  @usableFromInline @inline(never)
  borrowing func enterContended(_ thread: ThreadCallStack.Pointer, _ ticket: Ticket) {
    // Sequentially consistent: it takes the place of the exchange in `enter`.
    ticket.pointee.wrappingAdd(1, ordering: .sequentiallyConsistent)
    thread.pointee.stripe &+= 1
    // Relaxed: a guess, which `grow` checks.
    if current.load(ordering: .relaxed) == small { grow() }
  }

  /// Counts out the reader that was given `ticket`.
  @inlinable @inline(__always)
  borrowing func leave(_ ticket: Ticket) {
    // Sequentially consistent: releases what the reader did to whoever reclaims, and precedes the
    // reader's look at whether somebody waits for it (see `Reclaimer`).
    ticket.pointee.wrappingSubtract(1, ordering: .sequentiallyConsistent)
  }

  /// Whether readers that begin now count themselves in elsewhere than `ticket` does.
  borrowing func isDraining(_ ticket: Ticket) -> Bool {
    let column = (Int(bitPattern: ticket) >> 3) & 1
    // Sequentially consistent: if the flip comes later in the order, so does the collector's scan,
    // which then sees this reader gone.
    return column != phase.load(ordering: .sequentiallyConsistent)
  }

  /// Whether every counter of the phase that new readers do not use is zero.
  ///
  /// - Complexity: O(stripes).
  borrowing func isDrained() -> Bool {
    // Relaxed: only the caller changes it.
    let column = phase.load(ordering: .relaxed) ^ 1
    // Sequentially consistent: pairs with the load in `enter`. A reader that found this block and
    // then something that was unlinked later entered before the unlinking, so we find the block.
    let base = current.load(ordering: .sequentiallyConsistent)
    guard isZero(small, column) else { return false }
    guard base != small else { return true }
    // SAFETY: see the layout of a block above.
    let mask = (base - 8).assumingMemoryBound(to: Int.self).pointee
    for stripe in 0...mask where !isZero(base + stripe * Self.stride, column) { return false }
    return true
  }

  /// Sends new readers to the other column.
  borrowing func flip() {
    // Relaxed: only the caller changes it. Sequentially consistent: see `isDraining`.
    phase.store(phase.load(ordering: .relaxed) ^ 1, ordering: .sequentiallyConsistent)
  }

  private borrowing func isZero(_ stripe: UnsafeMutableRawPointer, _ column: Int) -> Bool {
    // SAFETY: `stripe` points at the two counters of a stripe, bound by `makeBlock`.
    // Sequentially consistent: see the head of this file.
    stripe.assumingMemoryBound(to: Counter.self)[column]
      .load(ordering: .sequentiallyConsistent) == 0
  }

  private borrowing func grow() {
    let block = Self.makeBlock(
      stripes: Self.stripesUnderContention, stride: Self.stride, header: Self.stride)
    // Sequentially consistent: publishes the block with its contents, and pairs with the loads in
    // `enter` and `isDrained`.
    let (exchanged, _) = current.compareExchange(
      expected: small, desired: block, ordering: .sequentiallyConsistent)
    if !exchanged { Self.freeBlock(block, header: Self.stride) }
  }

  /// Two stripes per processor, rounded up to a power of two.
  private static let stripesUnderContention: Int = {
    var stripes = 2
    while stripes < 2 * sysconf(Int32(_SC_NPROCESSORS_ONLN)) { stripes *= 2 }
    return stripes
  }()
}
