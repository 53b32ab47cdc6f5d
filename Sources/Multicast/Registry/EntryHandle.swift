internal import CMulticast
internal import Dispatch
internal import Synchronization

/// Ends one registration, whatever the type of its delegate: what ``Registration`` and
/// ``Subscription`` stand on.
///
/// ## Thread safety
/// Every operation may be called from any thread, also from inside the callback itself, but not
/// inside a critical section. Ending a registration may destroy the delegate on the calling thread,
/// so a handle of a delegate that is not `Sendable` reaches users only inside a ``Registration``,
/// which is not `Sendable` then.
final class EntryHandle: Sendable {
  // An unowned reference: it keeps the memory of the entry, hence its address, but not what the
  // entry owns. A handle that is kept, by the delegate itself perhaps, keeps nothing alive.
  // SAFETY: an entry is a native Swift object on every platform; the word never changes.
  private nonisolated(unsafe) let reference: UnsafeMutableRawPointer
  private let mailbox: Mailbox?
  private let registry: Registry

  init(_ entry: Entry, in registry: Registry) {
    reference = swift_unownedRetain(Unmanaged.passUnretained(entry).toOpaque())
    mailbox = entry.head.pointee.mailbox?.takeUnretainedValue()
    self.registry = registry
  }

  deinit { swift_unownedRelease(reference) }

  /// The entry, or `nil` if it was removed and no reader has it any more.
  var entry: Entry? {
    guard let entry = swift_tryRetain(reference) else {
      // What was written before the entry was removed is read after this: whether the hub finished.
      cmulticast_fence_acquire()
      return nil
    }
    // SAFETY: try-retain has retained the entry for us.
    return Unmanaged<Entry>.fromOpaque(entry).takeRetainedValue()
  }
}

extension EntryHandle {
  /// See ``Registration/isActive``.
  ///
  /// It never holds a strong delegate, so it cannot become the last owner of one.
  var isActive: Bool {
    // SAFETY: our unowned reference keeps the memory of the entry, and a head is trivial: its state
    // can be read when the entry is gone. Then it says `inactive`.
    let head = (reference + Entry.headOffset).assumingMemoryBound(to: EntryHead.self)
    // Acquiring: pairs with the thread that removed the entry.
    switch head.pointee.state.load(ordering: .acquiring) {
    case EntryHead.inactive: return false
    case EntryHead.activeStrong: return true
    default: return entry?.isLive ?? false
    }
  }

  /// See ``Registration/statistics``.
  var statistics: DeliveryStatistics? {
    mailbox?.statistics
  }

  /// See ``Registration/cancel()``.
  func cancel() {
    if let entry { registry.remove(entry) }
  }

  /// See ``Registration/cancelAndWait()``.
  func cancelAndWait() async {
    guard !cancelAndLook() else { return }
    var pause = Pause()
    while isRunning {
      let delay = pause.next()
      await suspend { continuation in
        DispatchQueue.global().asyncAfter(deadline: .now() + delay) { continuation.resume() }
      }
    }
  }

  /// See ``Registration/cancelAndWait(timeout:)``.
  func cancelAndWait(timeout: Duration) -> Bool {
    guard !cancelAndLook() else { return true }
    let deadline = timeout.asTimeout.map { ContinuousClock.now.advanced(by: $0) }
    var pause = Pause()
    while isRunning {
      if let deadline, ContinuousClock.now >= deadline { return false }
      pause.block(for: pause.next())
    }
    return true
  }

  /// Cancels.
  ///
  /// - Returns: whether it must not wait, because this is called from inside the callback. Other
  ///   threads may be inside too, and one of them may call this: they would wait for each other.
  private func cancelAndLook() -> Bool {
    cancel()
    ThreadCallStack.barrier()
    return ThreadCallStack.isCalledByThisThread(identity)
      || registry.taskCalls?.isCalledByCurrentTask(identity) ?? false
  }

  /// What the frame of a thread holds while it calls the entry, see `Entry.identity`.
  private var identity: UnsafeRawPointer { UnsafeRawPointer(reference) }

  private var isRunning: Bool {
    ThreadCallStack.isCalled(identity)
      || registry.taskCalls?.isCalled(identity) ?? false
  }
}

/// How long to wait between two looks: twice as long each time, up to a millisecond.
///
/// Callbacks do not announce their end, because each of them would pay for that; a waiter looks
/// again.
private struct Pause {
  private var microseconds = 1

  mutating func next() -> DispatchTimeInterval {
    defer { microseconds = min(microseconds * 2, 1000) }
    return .microseconds(microseconds)
  }

  func block(for interval: DispatchTimeInterval) {
    // Nobody signals it: a wait that ends with its time is a sleep.
    _ = DispatchSemaphore(value: 0).wait(timeout: .now() + interval)
  }
}
