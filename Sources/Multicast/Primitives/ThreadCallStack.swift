// The entries that each thread is calling.
//
// Before a thread calls an entry, it stores the entry's address in a frame of its own stack and
// then checks whether the entry is still active. `cancelAndWait` first makes the entry inactive and
// then searches every frame of every thread for it:
//
//     caller                                  waiter
//     frame.store(entry)                      entry.state.store(inactive)
//     light barrier                           heavy barrier
//     entry.state.load() == active?           frame.load() == entry?
//
// The barriers ensure that at least one of the two sees the other: either the caller finds the
// entry inactive and does not call it, or the waiter finds the frame and waits until it changes.
// The stores to the frame release and the waiter's loads acquire, so everything a callback did
// happened before the wait returned. Where the light barrier is free, a caller pays a plain store
// per call.
//
// The waiter waits for one entry, not for whole invocations: another entry of the same invocation
// that runs for long, or that waits for the waiter, does not delay it.

public import CMulticast
public import Synchronization

/// The frames of one thread, one per invocation, innermost last.
///
/// Beside each frame is a *section*: the structure whose read section the thread is in; see
/// `Reclaimer`.
///
/// Stacks are never freed. A thread that ends releases its stacks, and new threads reuse them. So
/// their number is the largest number that live threads ever had at once (see also
/// ``release(_:)``).
///
/// ## Thread safety
/// `frames`, their sections, `owner` and `next` are atomic or never change. Only the owning thread
/// uses the rest.
@usableFromInline
struct ThreadCallStack: ~Copyable {
  @usableFromInline typealias Pointer = UnsafeMutablePointer<ThreadCallStack>
  /// The address of the entry being called, or `nil`.
  @usableFromInline typealias Frame = Atomic<UnsafeRawPointer?>

  /// The number of frames. A thread with more nested invocations takes another stack.
  @usableFromInline static var capacity: Int { 16 }

  /// The first free frame.
  @usableFromInline var top: UnsafeMutablePointer<Frame>
  /// The end of the frames.
  @usableFromInline let limit: UnsafeMutablePointer<Frame>
  /// The stripe of a ``ReadIndicator`` in which this thread counts itself.
  @usableFromInline var stripe: Int
  /// The number of read sections that this thread counted since it last checked whether a structure
  /// is quiet; see `Reclaimer`.
  var countedSections = 0
  /// For the layers above: a counter that an invocation resets when it begins.
  @usableFromInline var invocationTally = 0
  /// For the layers above: asynchronous calls on this thread since one of them yielded.
  var unsuspendedCalls = 0
  /// For the layers above: whether this thread has received an event without a suspension; in its
  /// first stack only. See `ParkedTasks`.
  var hasReceived = false
  /// For the layers above: the innermost of the delivery roles that this thread has; see
  /// `DeliveryRole`.
  var deliveryRole: UnsafeRawPointer?
  /// For the layers above: memory for the entries of one invocation; `nil` before the first one,
  /// and while one uses it. Never freed, as the stack.
  var entryBuffer: UnsafeMutableRawPointer?
  /// The stack that this thread took before this one.
  private var sibling: Pointer?

  /// The number of frames in use.
  var depth: Int { top - frames }

  @usableFromInline let frames: UnsafeMutablePointer<Frame>
  /// The first stack of the thread that uses this stack; `nil` if no thread does.
  private let owner: Atomic<UnsafeRawPointer?>
  /// The stack that was created before this one.
  private let next: Pointer?

  private init(stripe: Int, next: Pointer?, owner: UnsafeRawPointer) {
    self.stripe = stripe
    self.next = next
    self.owner = Atomic(owner)
    // SAFETY: never freed once the stack is published. Aligned: no other thread writes these cache
    // lines. Bound once, to the type of frames and sections.
    frames = UnsafeMutableRawPointer.allocate(
      byteCount: 2 * Self.capacity * MemoryLayout<Frame>.stride, alignment: 128
    ).bindMemory(to: Frame.self, capacity: 2 * Self.capacity)
    top = frames
    limit = frames + Self.capacity
    for index in 0..<2 * Self.capacity { (frames + index).initialize(to: Frame(nil)) }
  }
}

extension UnsafeMutablePointer<ThreadCallStack.Frame> {
  /// The section beside a frame: the address of the structure that the thread reads, or `nil`.
  @inlinable @inline(__always)
  var section: UnsafeMutablePointer<ThreadCallStack.Frame> { self + ThreadCallStack.capacity }
}

extension ThreadCallStack {
  /// The stack in which the calling thread opens its next frame.
  @inlinable @inline(__always)
  static var current: Pointer {
    // SAFETY: the thread's pointer is `nil` or a stack, and a stack is never freed.
    if let stack = cmulticast_thread_get()?.assumingMemoryBound(to: ThreadCallStack.self),
      stack.pointee.top != stack.pointee.limit
    {
      return stack
    }
    return extend()
  }

  /// Gives the calling thread a stack with free frames: an unused one of its own, or one more.
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

  /// Takes a stack without an owner, or makes one.
  ///
  /// - Parameter owner: the first stack of the thread; `nil` if it has none.
  private static func acquire(owner: UnsafeRawPointer?) -> Pointer {
    // Acquiring: the stack was published with its contents by the exchange below.
    let newest = all.load(ordering: .acquiring)
    var candidate = newest
    while let stack = candidate {
      let (taken, _) = stack.pointee.owner.compareExchange(
        expected: nil,
        desired: owner ?? UnsafeRawPointer(stack),
        // Acquiring: pairs with the store in `release`, so this thread sees `top` reset.
        ordering: .acquiring)
      if taken { return stack }
      candidate = stack.pointee.next
    }
    let stack = Pointer.allocate(capacity: 1)
    var next = newest
    while true {
      stack.initialize(
        to: ThreadCallStack(
          // Relaxed: any number is right.
          stripe: threadCount.wrappingAdd(1, ordering: .relaxed).oldValue,
          next: next, owner: owner ?? UnsafeRawPointer(stack)))
      // Releases the contents of the stack. A thread that acquires it has acquired those before it
      // too, which this exchange continues as a release sequence. This thread reads nothing through
      // `latest`. Stacks are never removed, so there is no ABA.
      let (published, latest) = all.compareExchange(
        expected: next, desired: stack, ordering: .releasing)
      if published { return stack }
      stack.pointee.frames.deallocate()
      next = latest
    }
  }

  /// The last stack that the calling thread took. `sibling` leads to its other ones.
  private static var newestOfThisThread: Pointer? {
    // SAFETY: `extend` stores stacks there, and nothing else.
    pthread_getspecific(exitKey)?.assumingMemoryBound(to: ThreadCallStack.self)
  }

  /// Releases the stacks of a thread that ends, for other threads to reuse.
  ///
  /// A destructor that runs after this one may use the library: its thread takes a stack again,
  /// which the next round of destructors releases. There are `PTHREAD_DESTRUCTOR_ITERATIONS`
  /// rounds, often four. A stack taken in the last round after this destructor is never reused:
  /// some 400 bytes for each thread that ends like this.
  private static func release(_ last: Pointer) {
    cmulticast_thread_set(nil)
    var candidate: Pointer? = last
    while let stack = candidate {
      candidate = stack.pointee.sibling
      stack.pointee.sibling = nil
      // A thread that calls `pthread_exit` inside a callback has frames in use.
      for index in 0..<stack.pointee.depth {
        // Releasing: as in `Invocation.end`.
        stack.pointee.frames[index].store(nil, ordering: .releasing)
        // Releasing: as in `Reclaimer.leave`.
        (stack.pointee.frames + index).section.pointee.store(nil, ordering: .releasing)
      }
      stack.pointee.top = stack.pointee.frames
      stack.pointee.deliveryRole = nil
      stack.pointee.hasReceived = false
      // Releasing: the thread that takes the stack sees its fields.
      stack.pointee.owner.store(nil, ordering: .releasing)
    }
  }

  /// The newest stack. `next` leads to every other one.
  // SAFETY: the pointer is atomic, and no stack is ever freed.
  private nonisolated(unsafe) static let all = Atomic<Pointer?>(nil)
  /// The number of stacks made; spreads threads over stripes.
  private static let threadCount = Atomic<Int>(0)
  /// The key of each thread's last stack. Its destructor runs when the thread ends.
  private static let exitKey: pthread_key_t = {
    var key = pthread_key_t()
    let error = pthread_key_create(&key) { pointer in
      #if canImport(Darwin)
        let pointer: UnsafeMutableRawPointer? = pointer
      #endif
      guard let pointer else { return }
      // SAFETY: as in `newestOfThisThread`.
      ThreadCallStack.release(pointer.assumingMemoryBound(to: ThreadCallStack.self))
    }
    require(error == 0, "Multicast: pthread_key_create failed with error \(error)")
    return key
  }()
}

extension ThreadCallStack {
  /// Whether a frame of the calling thread holds `entry`.
  static func isCalledByThisThread(_ entry: UnsafeRawPointer) -> Bool {
    var candidate = newestOfThisThread
    while let stack = candidate {
      for index in 0..<stack.pointee.depth
      // Relaxed: a frame of this thread.
      where stack.pointee.frames[index].load(ordering: .relaxed) == entry { return true }
      candidate = stack.pointee.sibling
    }
    return false
  }

  /// Identifies the calling thread, as long as that lives: its first stack.
  static var thisThread: UnsafeRawPointer? {
    // Relaxed: this thread has set it.
    current.pointee.owner.load(ordering: .relaxed)
  }

  /// The first stack of the calling thread.
  static var first: Pointer {
    // SAFETY: a thread with a stack has a first one, and no stack is ever freed.
    UnsafeMutableRawPointer(mutating: thisThread!).assumingMemoryBound(to: ThreadCallStack.self)
  }

  /// The entries that the calling thread is calling, with repetitions.
  static var callsOfThisThread: [UnsafeRawPointer] {
    var calls: [UnsafeRawPointer] = []
    var candidate = newestOfThisThread
    while let stack = candidate {
      for index in 0..<stack.pointee.depth {
        // Relaxed: a frame of this thread.
        if let call = stack.pointee.frames[index].load(ordering: .relaxed) { calls.append(call) }
      }
      candidate = stack.pointee.sibling
    }
    return calls
  }

  /// The innermost delivery role of each stack of the calling thread.
  static var deliveryRolesOfThisThread: [UnsafeRawPointer] {
    var roles: [UnsafeRawPointer] = []
    var candidate = newestOfThisThread
    while let stack = candidate {
      if let role = stack.pointee.deliveryRole { roles.append(role) }
      candidate = stack.pointee.sibling
    }
    return roles
  }

  /// Whether a frame of any thread holds `entry`.
  ///
  /// - Complexity: O(threads).
  static func isCalled(_ entry: UnsafeRawPointer) -> Bool {
    // Acquiring: the stacks with their contents.
    var candidate = all.load(ordering: .acquiring)
    while let stack = candidate {
      for index in 0..<capacity
      // Acquiring: if a callback has ended, what it did happened before this.
      where stack.pointee.frames[index].load(ordering: .acquiring) == entry { return true }
      candidate = stack.pointee.next
    }
    return false
  }

  /// Whether a section of any thread holds `structure`.
  ///
  /// - Complexity: O(threads).
  static func isRead(_ structure: UnsafeRawPointer) -> Bool {
    // Acquiring: the stacks with their contents.
    var candidate = all.load(ordering: .acquiring)
    while let stack = candidate {
      let sections = stack.pointee.frames.section
      for index in 0..<capacity
      // Sequentially consistent: see `Reclaimer.leftWhilePending`. It also acquires: what a reader
      // did in a section that has ended happened before this.
      where sections[index].load(ordering: .sequentiallyConsistent) == structure { return true }
      candidate = stack.pointee.next
    }
    return false
  }
}
