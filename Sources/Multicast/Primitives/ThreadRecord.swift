// Which entry each thread is calling at this moment.
//
// Before a thread calls an entry it stores the entry's address in a frame of its own record, and
// then looks whether the entry is still active. `cancelAndWait` first makes the entry inactive and
// then looks for it in every frame of every thread:
//
//     caller                                  waiter
//     frame.store(entry)                      entry.state.store(inactive)
//     light barrier                           heavy barrier
//     entry.state.load() == active?           frame.load() == entry?
//
// Thanks to the pair of barriers at least one of the two sees the other: either the caller finds
// the entry inactive and does not call it, or the waiter finds the frame and waits until it
// changes. The frame's stores release and the waiter's loads acquire, so whatever a callback did
// happened before the wait returned. A caller pays a plain store for each call.
//
// The waiter looks at one entry and not at whole invocations: a neighbour that runs for long, or
// that waits for the waiter, does not hold it up.

public import CMulticast
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

/// The frames of one thread: what it is calling, innermost last.
///
/// Records are found through ``ThreadRecord/all``. They are never freed, only handed from a thread
/// that ends to a thread that begins, so their number is that of the threads that were ever inside
/// this library at once.
///
/// ## Thread safety
/// `top`, `stripe`, `wakeUps`, `unyieldedSends` and `sibling` belong to the owning thread. Everything else is atomic or never
/// changes.
@usableFromInline
struct ThreadRecord: ~Copyable {
  @usableFromInline typealias Pointer = UnsafeMutablePointer<ThreadRecord>
  /// The address of the entry that is being called, or `nil`.
  @usableFromInline typealias Frame = Atomic<UnsafeRawPointer?>

  /// How many nested invocations one record can hold. A thread that nests deeper takes another.
  @usableFromInline static var capacity: Int { 16 }

  /// The first frame that is not in use.
  @usableFromInline var top: UnsafeMutablePointer<Frame>
  /// Behind the last frame.
  @usableFromInline let limit: UnsafeMutablePointer<Frame>
  /// Where this thread counts itself in, in the stripes of ``ReaderCounters``.
  @usableFromInline var stripe: Int
  /// How many mailboxes the thread has woken since it began its latest invocation; see `WakeUps`.
  @usableFromInline var wakeUps = 0
  /// How many times `sendWaiting` has returned on the thread since a task yielded there.
  var unyieldedSends = 0
  /// The record this thread took before this one.
  private var sibling: Pointer?

  /// How many frames are in use.
  var depth: Int { top - frames }

  @usableFromInline let frames: UnsafeMutablePointer<Frame>
  /// The thread that uses this record, or `nil` for nobody. It is named by its first record.
  private let owner: Atomic<UnsafeRawPointer?>
  /// The record that was created before this one.
  private let next: Pointer?

  private init(stripe: Int, next: Pointer?, owner: UnsafeRawPointer) {
    self.stripe = stripe
    self.next = next
    self.owner = Atomic(owner)
    // SAFETY: never freed, as the record itself.
    frames = .allocate(capacity: Self.capacity)
    top = frames
    limit = frames + Self.capacity
    for index in 0..<Self.capacity { (frames + index).initialize(to: Frame(nil)) }
  }
}

extension ThreadRecord {
  /// The record in which the calling thread opens its next frame.
  @inlinable @inline(__always)
  static var current: Pointer {
    // SAFETY: the thread's pointer is written by `extend` alone, with a record that is never freed.
    if let record = unsafeCurrent, record.pointee.top != record.pointee.limit { return record }
    return extend()
  }

  /// The record the calling thread used last, which may be full.
  @inlinable @inline(__always)
  static var unsafeCurrent: Pointer? {
    cmulticast_thread_get()?.assumingMemoryBound(to: ThreadRecord.self)
  }

  /// Gives the calling thread a record with a free frame: its first one, or one more.
  @usableFromInline @inline(never)
  static func extend() -> Pointer {
    let outer = newestOfThisThread
    var candidate = outer
    while let record = candidate {
      if record.pointee.depth == 0 {
        cmulticast_thread_set(record)
        return record
      }
      candidate = record.pointee.sibling
    }
    if outer == nil { cmulticast_barrier_prepare() }
    // Relaxed: this thread has written it.
    let record = acquire(owner: outer?.pointee.owner.load(ordering: .relaxed))
    record.pointee.sibling = outer
    if let outer { record.pointee.stripe = outer.pointee.stripe }
    cmulticast_thread_set(record)
    let error = pthread_setspecific(exitKey, record)
    require(error == 0, "Multicast: pthread_setspecific failed with error \(error)")
    return record
  }

  /// A record that nobody used, or a new one, for the thread `owner` (`nil`: a thread without).
  private static func acquire(owner: UnsafeRawPointer?) -> Pointer {
    // Acquiring: the record was published with its contents by the exchange below.
    let newest = all.load(ordering: .acquiring)
    var candidate = newest
    while let record = candidate {
      let (taken, _) = record.pointee.owner.compareExchange(
        expected: nil,
        desired: owner ?? UnsafeRawPointer(record),
        // Acquiring: pairs with the release in `abandon`, after which `top` is ours.
        ordering: .acquiring)
      if taken { return record }
      candidate = record.pointee.next
    }
    let record = Pointer.allocate(capacity: 1)
    var next = newest
    while true {
      record.initialize(
        to: ThreadRecord(
          // Relaxed: any number will do.
          stripe: threadCount.wrappingAdd(1, ordering: .relaxed).oldValue,
          next: next, owner: owner ?? UnsafeRawPointer(record)))
      // Releases the record's contents, and if it fails acquires those of the one that will be
      // behind it. Nobody removes, so there is no ABA.
      let (published, latest) = all.compareExchange(
        expected: next, desired: record, ordering: .acquiringAndReleasing)
      if published { return record }
      record.pointee.frames.deallocate()
      next = latest
    }
  }

  /// The record the calling thread took last, and through `sibling` its other ones.
  private static var newestOfThisThread: Pointer? {
    pthread_getspecific(exitKey)?.assumingMemoryBound(to: ThreadRecord.self)
  }

  /// Hands the records of a thread that ends to those that will begin.
  ///
  /// A destructor that runs after this one may use the library: its thread takes a record again,
  /// which is handed on in the next round of destructors. There are four
  /// (`PTHREAD_DESTRUCTOR_ITERATIONS`); what a destructor takes in the last one, after this one, is
  /// never handed on: one record, of some 200 bytes, for each thread that ends in this way.
  private static func abandon(_ last: Pointer) {
    cmulticast_thread_set(nil)
    var candidate: Pointer? = last
    while let record = candidate {
      candidate = record.pointee.sibling
      record.pointee.sibling = nil
      // A thread that ends inside a callback, by `pthread_exit`, leaves its frames behind.
      for index in 0..<record.pointee.depth {
        // Releasing: as in `Visit.end`.
        record.pointee.frames[index].store(nil, ordering: .releasing)
      }
      record.pointee.top = record.pointee.frames
      // Releasing: whoever takes the record sees its fields as we left them.
      record.pointee.owner.store(nil, ordering: .releasing)
    }
  }

  /// The newest record, and through `next` every other one.
  // SAFETY: the word is atomic; what it points at is never freed.
  private nonisolated(unsafe) static let all = Atomic<Pointer?>(nil)
  /// How many records were made; spreads threads over stripes.
  private static let threadCount = Atomic<Int>(0)
  /// A key whose destructor runs when a thread ends.
  private static let exitKey: pthread_key_t = {
    var key = pthread_key_t()
    let error = pthread_key_create(&key) { pointer in
      #if canImport(Darwin)
        let pointer: UnsafeMutableRawPointer? = pointer
      #endif
      guard let pointer else { return }
      ThreadRecord.abandon(pointer.assumingMemoryBound(to: ThreadRecord.self))
    }
    require(error == 0, "Multicast: pthread_key_create failed with error \(error)")
    return key
  }()
}

extension ThreadRecord {
  /// Makes sure that a thread which calls an entry from now on sees what was written before.
  ///
  /// The waiter's half of the pair of barriers, see the head of this file.
  static func barrier() {
    cmulticast_barrier_prepare()
    cmulticast_barrier_heavy()
  }

  /// Whether a frame of the calling thread holds `entry`.
  static func isCalledByThisThread(_ entry: UnsafeRawPointer) -> Bool {
    var candidate = newestOfThisThread
    while let record = candidate {
      for index in 0..<record.pointee.depth
      // Relaxed: our own frame.
      where record.pointee.frames[index].load(ordering: .relaxed) == entry { return true }
      candidate = record.pointee.sibling
    }
    return false
  }

  /// The entries that the calling thread is inside, of which it may be inside one several times.
  static var callsOfThisThread: [UnsafeRawPointer] {
    var calls: [UnsafeRawPointer] = []
    var candidate = newestOfThisThread
    while let record = candidate {
      for index in 0..<record.pointee.depth {
        // Relaxed: our own frame.
        if let call = record.pointee.frames[index].load(ordering: .relaxed) { calls.append(call) }
      }
      candidate = record.pointee.sibling
    }
    return calls
  }

  /// Whether a frame of any thread holds `entry`.
  ///
  /// - Complexity: O(threads).
  static func isCalled(_ entry: UnsafeRawPointer) -> Bool {
    // Acquiring: the records with their contents.
    var candidate = all.load(ordering: .acquiring)
    while let record = candidate {
      for index in 0..<capacity
      // Acquiring: what the callback did happened before this, if its frame is gone.
      where record.pointee.frames[index].load(ordering: .acquiring) == entry { return true }
      candidate = record.pointee.next
    }
    return false
  }
}
