internal import Dispatch
internal import Synchronization

/// The untyped part of ``Registration`` and ``EventSubscription``: ends one registration.
///
/// ## Thread safety
/// Every operation may be called from any thread, also from inside the callback itself, but not
/// inside a critical section. Ending a registration may destroy the delegate on the calling thread.
/// So if the delegate is not `Sendable`, users get the handle only inside a ``Registration``, which
/// is not `Sendable` either.
///
/// A value, so that a handle that is not kept costs no allocation.
struct EntryHandle: Sendable {
  /// Keeps the memory of the entry, hence its address, but not what the entry owns: a handle, even
  /// one that the delegate itself stores, does not keep the delegate alive.
  private let memory: UnownedReference<Entry>
  /// The mailbox with which the entry was added.
  let initialMailbox: Mailbox?
  let registry: Registry

  /// - Parameter entry: held by the caller.
  init(_ entry: Unmanaged<Entry>, in registry: Registry) {
    // SAFETY: the caller holds the entry, which keeps its mailbox.
    memory = entry._withUnsafeGuaranteedRef { UnownedReference($0) }
    initialMailbox = entry.head.pointee.mailbox?.takeUnretainedValue()
    self.registry = registry
  }

  /// The address of the entry, which may be dead.
  var address: UnsafeMutableRawPointer { memory.address }

  /// The entry, or `nil` if it was removed and no reader holds it. Then writes before the removal
  /// are visible: a caller reads whether the hub finished.
  var entry: Entry? { memory.object }
}

extension EntryHandle {
  var mailbox: Mailbox? { initialMailbox ?? entry?.mailbox }

  /// See ``Registration/isActive``.
  ///
  /// It never retains a strong delegate, so it cannot become the last owner of one.
  var isActive: Bool {
    guard EntryHead.isActive(state) else { return false }
    return head.pointee.isWeak ? entry?.isLive ?? false : true
  }

  /// Whether the end of the hub has ended the registration.
  var isFinished: Bool { state & EntryHead.finished != 0 }

  var state: UInt8 {
    // Acquiring: pairs with the thread that removed the entry.
    head.pointee.state.load(ordering: .acquiring)
  }

  private var head: UnsafeMutablePointer<EntryHead> {
    // SAFETY: the unowned reference keeps the memory of the entry, and nothing deinitialises a
    // head: its state can be read after the entry is destroyed. It is inactive then.
    (address + Entry.headOffset).assumingMemoryBound(to: EntryHead.self)
  }

  /// Whether the entry lives as long as an object that it does not keep alive.
  var hasOwner: Bool { head.pointee.isWeak }

  /// See ``Registration/statistics``.
  var statistics: DeliveryStatistics? {
    mailbox?.statistics
  }

  /// See ``Registration/cancel()``.
  func cancel() {
    remove()
    // Its last call may be running, or about to remove it.
    LastCalls.shared.forget(identity)
  }

  /// Removes the entry.
  ///
  /// - Returns: whether it was registered.
  @discardableResult
  func remove() -> Bool {
    guard EntryHead.isActive(state) else { return false }
    // SAFETY: `memory` keeps the memory of the entry until `remove` returns.
    return withExtendedLifetime(memory) { registry.remove(.fromOpaque(address)) }
  }

  /// See ``Registration/cancelAndWait()``.
  func cancelAndWait() async {
    cancel()
    // Before the barrier, which may continue on another thread.
    guard !isInsideCallback else { return }
    await SharedBarrier.passWithoutBlocking()
    var delay = PollDelay()
    while isRunning {
      let deadline = DispatchTime.now() + delay.next()
      await suspend { continuation in
        DispatchQueue.global().asyncAfter(deadline: deadline) { continuation.resume() }
      }
    }
  }

  /// See ``Registration/cancelAndWait(timeout:)``.
  func cancelAndWait(timeout: Duration) -> Bool {
    cancel()
    guard !isInsideCallback else { return true }
    // Before the barrier, which may wait for other callers: the timeout is from the call on.
    let deadline = timeout.asTimeout.map { ContinuousClock.now.advanced(by: $0) }
    if timeout > .zero { SharedBarrier.pass() } else { SharedBarrier.passAtOnce() }
    var delay = PollDelay()
    while isRunning {
      if let deadline, ContinuousClock.now >= deadline { return false }
      // Nothing signals this semaphore: the wait is a sleep.
      _ = DispatchSemaphore(value: 0).wait(timeout: .now() + delay.next())
    }
    return true
  }

  /// Whether the caller is inside the callback. Then it must not wait, not even for other threads
  /// inside: one of them may call this too, and they would wait for each other.
  private var isInsideCallback: Bool {
    ThreadCallStack.isCalledByThisThread(identity)
      || mailbox?.isCalledByCurrentTask ?? false
      || registry.taskCalls?.isCalledByCurrentTask(identity) ?? false
  }

  /// See `Entry.identity`.
  var identity: UnsafeRawPointer { UnsafeRawPointer(address) }

  private var isRunning: Bool {
    // The frames first: an invocation that gives the entry a mailbox does so while its frame shows
    // the entry. If the frame was found empty, the mailbox is found.
    ThreadCallStack.isCalled(identity)
      || mailbox?.isCalling ?? false
      || registry.taskCalls?.isCalled(identity) ?? false
  }
}

/// The delay between two polls: twice as long each time, up to a millisecond.
///
/// Waiters poll, because a signal at the end of a callback would cost every call.
private struct PollDelay {
  private var microseconds = 1

  mutating func next() -> DispatchTimeInterval {
    defer { microseconds = min(microseconds * 2, 1000) }
    return .microseconds(microseconds)
  }
}
