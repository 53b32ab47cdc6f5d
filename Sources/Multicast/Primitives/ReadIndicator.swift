// The number of readers inside read sections.
//
// A reader counts itself in before it loads a shared pointer, and out when it no longer uses what
// it found. There are two columns of counters; the current *phase* names the column that new
// readers use. Each column has stripes, so that readers on different processors write different
// cache lines.
//
//     reader                                      reclaimer, after unlinking an object
//     counter[phase].add(1)   (seq_cst)           counter.load() == 0   (seq_cst)
//     shared.load()           (seq_cst)
//     …
//     counter[phase].sub(1)   (seq_cst)
//
// All these operations and the store that unlinks are sequentially consistent, so they have one
// total order. Suppose the reclaimer finds a counter at zero *after* the unlinking. Then a reader
// of that counter either left before, or its add comes later in the order; its load then follows
// the unlinking too and cannot find the object. Once the reclaimer has found every counter at zero
// after the unlinking, not necessarily at the same moment, no reader can hold the object. Phases
// play no part in this argument: a reader that loaded a stale phase is still counted. They ensure
// progress: apart from such late readers, the counters of the other column only fall, so
// overlapping readers cannot delay the reclaimer forever. See Linux' sleepable RCU, and Ramalhete
// and Correia's Left-Right.

internal import CMulticast
public import Synchronization

/// Counters of the readers inside read sections, striped under contention.
///
/// There is no counter until the first reader comes, and then one small stripe until two threads
/// contend for it. Then the counters grow, once, to at least two padded stripes per processor. A
/// thread whose compare-and-swap fails moves to the next stripe.
///
/// ## Thread safety
/// Every operation may be called from any thread.
@usableFromInline
struct ReadIndicator: ~Copyable, @unchecked Sendable {
  // Sendable: `current`, `phase` and the counters of the blocks are atomic; the rest never changes.
  @usableFromInline typealias Counter = Atomic<Int>

  /// The counter in which a reader has counted itself.
  @usableFromInline typealias Ticket = UnsafeMutablePointer<Counter>

  /// The bytes between stripes: two cache lines, because processors fetch lines in pairs.
  @usableFromInline static var stride: Int { 128 }

  // The base of a block is its first stripe. A stripe begins with its two counters. The word before
  // the base holds the number of stripes minus one: a mask, because the number is a power of two.
  // The word before that holds the base of the previous block. A base is a multiple of 16, so bit 3
  // of a counter's address is its column. Blocks live as long as the read indicator.
  @usableFromInline typealias Block = UnsafeMutableRawPointer

  /// The newest block; `nil` before the first reader.
  let current = Atomic<Block?>(nil)

  /// The column that new readers use: 0 or 1.
  @usableFromInline let phase = Atomic<UInt8>(0)

  private static var smallHeader: Int { 16 }

  init() {}

  deinit {
    // Relaxed: no other thread uses the counters any more.
    guard let newest = current.load(ordering: .relaxed) else { return }
    if let small = Self.previous(newest) {
      Self.freeBlock(newest, header: Self.stride)
      Self.freeBlock(small, header: Self.smallHeader)
    } else {
      Self.freeBlock(newest, header: Self.smallHeader)
    }
  }

  private static func makeBlock(
    stripes: Int, stride: Int, header: Int, previous: Block?
  ) -> Block {
    // SAFETY: `header` and `stride` are multiples of 16, so each counter is aligned; the mask and
    // the counters of every stripe lie within the allocation.
    let base =
      Block.allocate(byteCount: header + stripes * stride, alignment: header)
      + header
    (base - 8).initializeMemory(as: Int.self, to: stripes - 1)
    (base - 16).initializeMemory(as: Block?.self, to: previous)
    for stripe in 0..<stripes {
      let counters = (base + stripe * stride).bindMemory(to: Counter.self, capacity: 2)
      counters.initialize(to: Counter(0))
      (counters + 1).initialize(to: Counter(0))
    }
    return base
  }

  private static func freeBlock(_ base: Block, header: Int) {
    (base - header).deallocate()
  }

  // SAFETY: see the layout of a block above.
  private static func previous(_ base: Block) -> Block? {
    (base - 16).assumingMemoryBound(to: Block?.self).pointee
  }

  private static func mask(_ base: Block) -> Int {
    (base - 8).assumingMemoryBound(to: Int.self).pointee
  }
}

extension ReadIndicator {
  /// Counts the calling thread in. It may load shared pointers until ``leave(_:)``.
  borrowing func enter(_ thread: ThreadCallStack.Pointer) -> Ticket {
    // Sequentially consistent: see `isZero`, which must find every block in use.
    let base = current.load(ordering: .sequentiallyConsistent) ?? begin()
    // Relaxed: a stale phase delays the reclaimer but cannot mislead it.
    let column = Int(phase.load(ordering: .relaxed))
    perturb()
    // SAFETY: see the layout of a block above.
    let stripe = (thread.pointee.stripe & Self.mask(base)) &* Self.stride
    let ticket = (base + stripe).assumingMemoryBound(to: Counter.self) + column
    // Relaxed: a guess, which the exchange checks.
    let count = ticket.pointee.load(ordering: .relaxed)
    // Sequentially consistent: see the head of this file.
    let (exchanged, _) = ticket.pointee.compareExchange(
      expected: count, desired: count &+ 1, ordering: .sequentiallyConsistent)
    if !exchanged { enterContended(thread, ticket, base) }
    return ticket
  }

  /// Counts the calling thread in after contention, and moves it to another stripe.
  @inline(never)
  borrowing func enterContended(
    _ thread: ThreadCallStack.Pointer, _ ticket: Ticket, _ base: Block
  ) {
    // Sequentially consistent: it replaces the exchange in `enter`.
    ticket.pointee.wrappingAdd(1, ordering: .sequentiallyConsistent)
    thread.pointee.stripe &+= 1
    // `grow` checks that it is still the newest.
    if Self.previous(base) == nil { grow(base) }
  }

  /// Counts out the reader with this ticket.
  borrowing func leave(_ ticket: Ticket) {
    // Sequentially consistent: releases what the reader did to the collector, and precedes the
    // reader's load of the role (see `Reclaimer`).
    ticket.pointee.wrappingSubtract(1, ordering: .sequentiallyConsistent)
  }

  /// Whether the column of `ticket` is the one that new readers do not use.
  borrowing func isDraining(_ ticket: Ticket) -> Bool {
    let column = (Int(bitPattern: ticket) >> 3) & 1
    // Sequentially consistent: if the flip comes later in the order, so does the collector's scan,
    // which then finds that this reader has left.
    return column != Int(phase.load(ordering: .sequentiallyConsistent))
  }

  /// Whether every counter of the column that new readers do not use was found at zero.
  ///
  /// - Complexity: O(stripes).
  borrowing func isDrained() -> Bool {
    // Relaxed: only the collector, which calls this, changes it.
    isZero(column: Int(phase.load(ordering: .relaxed) ^ 1))
  }

  /// The same of the column that new readers use.
  borrowing func isCurrentDrained() -> Bool {
    // Relaxed: as above.
    isZero(column: Int(phase.load(ordering: .relaxed)))
  }

  private borrowing func isZero(column: Int) -> Bool {
    // Sequentially consistent: pairs with the load in `enter`. A reader that holds an unlinked
    // object loaded its block before the unlinking; this load comes after it and finds the block.
    guard let base = current.load(ordering: .sequentiallyConsistent) else { return true }
    if let small = Self.previous(base), !isZero(small, column) { return false }
    for stripe in 0...Self.mask(base) where !isZero(base + stripe * Self.stride, column) {
      return false
    }
    return true
  }

  /// Makes new readers use the other column.
  borrowing func flip() {
    // Relaxed: only the collector changes it. Sequentially consistent: see `isDraining`.
    phase.store(phase.load(ordering: .relaxed) ^ 1, ordering: .sequentiallyConsistent)
  }

  private borrowing func isZero(_ stripe: Block, _ column: Int) -> Bool {
    // SAFETY: `stripe` points at the two counters of a stripe, bound by `makeBlock`.
    // Sequentially consistent: see the head of this file.
    stripe.assumingMemoryBound(to: Counter.self)[column]
      .load(ordering: .sequentiallyConsistent) == 0
  }

  /// Makes the first block, and returns the newest.
  @inline(never)
  private borrowing func begin() -> Block {
    let block = Self.makeBlock(
      stripes: 1, stride: 16, header: Self.smallHeader, previous: nil)
    // Sequentially consistent: as in `grow`.
    let (exchanged, newest) = current.compareExchange(
      expected: nil, desired: block, ordering: .sequentiallyConsistent)
    if exchanged { return block }
    Self.freeBlock(block, header: Self.smallHeader)
    return newest!  // The exchange failed because it is not `nil`.
  }

  private borrowing func grow(_ small: Block) {
    let block = Self.makeBlock(
      stripes: Self.stripesUnderContention, stride: Self.stride, header: Self.stride,
      previous: small)
    // Sequentially consistent: publishes the block with its contents, and pairs with the loads in
    // `enter` and `isZero`.
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
