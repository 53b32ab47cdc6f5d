// Which entry each thread is calling at this moment.
//
// Before a thread calls an entry it stores the entry's address in a frame of its own stack, and
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
/// Stacks are found through ``ThreadCallStack/all``. They are never freed, only handed from a thread
/// that ends to a thread that begins, so their number is that of the threads that were ever inside
/// this library at once.
///
/// ## Thread safety
/// `frames`, `owner` and `next` are atomic or never change. Everything else belongs to the owning
/// thread.
@usableFromInline
struct ThreadCallStack: ~Copyable {
  @usableFromInline typealias Pointer = UnsafeMutablePointer<ThreadCallStack>
  /// The address of the entry that is being called, or `nil`.
  @usableFromInline typealias Frame = Atomic<UnsafeRawPointer?>

  /// How many nested invocations one stack can hold. A thread that nests deeper takes another.
  @usableFromInline static var capacity: Int { 16 }

  /// The first frame that is not in use.
  @usableFromInline var top: UnsafeMutablePointer<Frame>
  /// Behind the last frame.
  @usableFromInline let limit: UnsafeMutablePointer<Frame>
  /// Where this thread counts itself in, in the stripes of ``ReadIndicator``.
  @usableFromInline var stripe: Int
  /// A count for the code above, which is zero when an invocation begins.
  @usableFromInline var invocationTally = 0
  /// How many asynchronous calls have returned on the thread since the last one that suspended.
  var unsuspendedCalls = 0
  /// The stack this thread took before this one.
  private var sibling: Pointer?

  /// How many frames are in use.
  var depth: Int { top - frames }

  @usableFromInline let frames: UnsafeMutablePointer<Frame>
  /// The thread that uses this stack, or `nil` for nobody. It is named by its first stack.
  private let owner: Atomic<UnsafeRawPointer?>
  /// The stack that was created before this one.
  private let next: Pointer?

  private init(stripe: Int, next: Pointer?, owner: UnsafeRawPointer) {
    self.stripe = stripe
    self.next = next
    self.owner = Atomic(owner)
    // SAFETY: never freed, as the stack itself.
    frames = .allocate(capacity: Self.capacity)
    top = frames
    limit = frames + Self.capacity
    for index in 0..<Self.capacity { (frames + index).initialize(to: Frame(nil)) }
  }
}

extension ThreadCallStack {
  /// The stack in which the calling thread opens its next frame.
  @inlinable @inline(__always)
  static var current: Pointer {
    // SAFETY: the thread's pointer is written by `extend` alone, with a stack that is never freed.
    if let stack = unsafeCurrent, stack.pointee.top != stack.pointee.limit { return stack }
    return extend()
  }

  /// The stack the calling thread used last, which may be full.
  @inlinable @inline(__always)
  static var unsafeCurrent: Pointer? {
    cmulticast_thread_get()?.assumingMemoryBound(to: ThreadCallStack.self)
  }

  /// Gives the calling thread a stack with a free frame: its first one, or one more.
  @usableFromInline @inline(never)
  static func extend() -> Pointer {
    let outer = newestOfThisThread
    var candidate = outer
    while let stack = candidate {
      if stack.pointee.depth == 0 {
        cmulticast_thread_set(stack)
        return stack
      }
      candidate = stack.pointee.sibling
    }
    if outer == nil { cmulticast_barrier_prepare() }
    // Relaxed: this thread has written it.
    let stack = acquire(owner: outer?.pointee.owner.load(ordering: .relaxed))
    stack.pointee.sibling = outer
    if let outer { stack.pointee.stripe = outer.pointee.stripe }
    cmulticast_thread_set(stack)
    let error = pthread_setspecific(exitKey, stack)
    require(error == 0, "Multicast: pthread_setspecific failed with error \(error)")
    return stack
  }

  /// A stack that nobody used, or a new one, for the thread `owner` (`nil`: a thread without).
  private static func acquire(owner: UnsafeRawPointer?) -> Pointer {
    // Acquiring: the stack was published with its contents by the exchange below.
    let newest = all.load(ordering: .acquiring)
    var candidate = newest
    while let stack = candidate {
      let (taken, _) = stack.pointee.owner.compareExchange(
        expected: nil,
        desired: owner ?? UnsafeRawPointer(stack),
        // Acquiring: pairs with the release in `abandon`, after which `top` is ours.
        ordering: .acquiring)
      if taken { return stack }
      candidate = stack.pointee.next
    }
    let stack = Pointer.allocate(capacity: 1)
    var next = newest
    while true {
      stack.initialize(
        to: ThreadCallStack(
          // Relaxed: any number will do.
          stripe: threadCount.wrappingAdd(1, ordering: .relaxed).oldValue,
          next: next, owner: owner ?? UnsafeRawPointer(stack)))
      // Releases the stack's contents, and if it fails acquires those of the one that will be
      // behind it. Nobody removes, so there is no ABA.
      let (published, latest) = all.compareExchange(
        expected: next, desired: stack, ordering: .acquiringAndReleasing)
      if published { return stack }
      stack.pointee.frames.deallocate()
      next = latest
    }
  }

  /// The stack the calling thread took last, and through `sibling` its other ones.
  private static var newestOfThisThread: Pointer? {
    pthread_getspecific(exitKey)?.assumingMemoryBound(to: ThreadCallStack.self)
  }

  /// Hands the stacks of a thread that ends to those that will begin.
  ///
  /// A destructor that runs after this one may use the library: its thread takes a stack again,
  /// which is handed on in the next round of destructors. There are four
  /// (`PTHREAD_DESTRUCTOR_ITERATIONS`); what a destructor takes in the last one, after this one, is
  /// never handed on: one stack, of some 200 bytes, for each thread that ends in this way.
  private static func abandon(_ last: Pointer) {
    cmulticast_thread_set(nil)
    var candidate: Pointer? = last
    while let stack = candidate {
      candidate = stack.pointee.sibling
      stack.pointee.sibling = nil
      // A thread that ends inside a callback, by `pthread_exit`, leaves its frames behind.
      for index in 0..<stack.pointee.depth {
        // Releasing: as in `Invocation.end`.
        stack.pointee.frames[index].store(nil, ordering: .releasing)
      }
      stack.pointee.top = stack.pointee.frames
      // Releasing: whoever takes the stack sees its fields as we left them.
      stack.pointee.owner.store(nil, ordering: .releasing)
    }
  }

  /// The newest stack, and through `next` every other one.
  // SAFETY: the word is atomic; what it points at is never freed.
  private nonisolated(unsafe) static let all = Atomic<Pointer?>(nil)
  /// How many stacks were made; spreads threads over stripes.
  private static let threadCount = Atomic<Int>(0)
  /// A key whose destructor runs when a thread ends.
  private static let exitKey: pthread_key_t = {
    var key = pthread_key_t()
    let error = pthread_key_create(&key) { pointer in
      #if canImport(Darwin)
        let pointer: UnsafeMutableRawPointer? = pointer
      #endif
      guard let pointer else { return }
      ThreadCallStack.abandon(pointer.assumingMemoryBound(to: ThreadCallStack.self))
    }
    require(error == 0, "Multicast: pthread_key_create failed with error \(error)")
    return key
  }()
}

extension ThreadCallStack {
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
    while let stack = candidate {
      for index in 0..<stack.pointee.depth
      // Relaxed: our own frame.
      where stack.pointee.frames[index].load(ordering: .relaxed) == entry { return true }
      candidate = stack.pointee.sibling
    }
    return false
  }

  /// The entries that the calling thread is inside, of which it may be inside one several times.
  static var callsOfThisThread: [UnsafeRawPointer] {
    var calls: [UnsafeRawPointer] = []
    var candidate = newestOfThisThread
    while let stack = candidate {
      for index in 0..<stack.pointee.depth {
        // Relaxed: our own frame.
        if let call = stack.pointee.frames[index].load(ordering: .relaxed) { calls.append(call) }
      }
      candidate = stack.pointee.sibling
    }
    return calls
  }

  /// Whether a frame of any thread holds `entry`.
  ///
  /// - Complexity: O(threads).
  static func isCalled(_ entry: UnsafeRawPointer) -> Bool {
    // Acquiring: the stacks with their contents.
    var candidate = all.load(ordering: .acquiring)
    while let stack = candidate {
      for index in 0..<capacity
      // Acquiring: what the callback did happened before this, if its frame is gone.
      where stack.pointee.frames[index].load(ordering: .acquiring) == entry { return true }
      candidate = stack.pointee.next
    }
    return false
  }
}
