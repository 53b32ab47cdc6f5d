internal import CMulticast
internal import Dispatch

/// A handle of one registration: what `add` returns.
///
/// A registration does not end when its handle goes away; it ends with ``cancel()``, with `remove`,
/// with the delegate if that is held weakly, or with the hub.
///
/// ```swift
/// let registration = hub.add(logger)
/// …
/// await registration.cancelAndWait()
/// logger.close()  // nobody is inside logger's methods, and nobody will be
/// ```
///
/// ## Thread safety
/// Every operation may be called from any thread, also from inside the callback itself.
public final class Registration: Sendable {
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
    // SAFETY: try-retain has retained the entry for us.
    swift_tryRetain(reference).map { Unmanaged<Entry>.fromOpaque($0).takeRetainedValue() }
  }
}

extension Registration {
  /// Whether the delegate can still be called: it was not removed, and it is alive.
  public var isActive: Bool {
    entry?.isLive ?? false
  }

  /// What became of the calls for a delegate that is called on a queue; `nil` for one that is
  /// called by the sender.
  public var statistics: DeliveryStatistics? {
    mailbox?.statistics
  }

  /// Ends the registration. Cancelling again does nothing.
  ///
  /// It never waits for a callback: one that had passed its check on another thread may still be
  /// running, and end later. See ``cancelAndWait()`` for the promise that none is.
  ///
  /// - Complexity: amortised O(1).
  public func cancel() {
    if let entry { registry.remove(entry) }
  }

  /// Ends the registration, and returns when its callback is not running and never will.
  ///
  /// It waits for this callback alone, not for others of the same invocation. Called from inside
  /// the callback itself, or from a filter or key of the subscription, it returns at once. The
  /// promise then starts when that call, and every call that other threads had begun before, has
  /// ended. (Two callbacks that waited for each other would never end.)
  ///
  /// A callback that waits for the task that called this, by whatever means, waits for ever.
  /// Cancelling the task does not end the wait.
  public func cancelAndWait() async {
    guard !cancelAndLook() else { return }
    var pause = Pause()
    while isRunning {
      let delay = pause.next()
      await withCheckedContinuation { continuation in
        DispatchQueue.global().asyncAfter(deadline: .now() + delay) { continuation.resume() }
      }
    }
  }

  /// Ends the registration, and blocks the thread until its callback is not running and never will,
  /// or until `timeout` has passed.
  ///
  /// As for ``cancelAndWait()``. The registration has ended in either case.
  ///
  /// - Parameter timeout: how long to wait at the most. If it is zero or less, this only looks.
  /// - Returns: whether the promise holds. From inside the callback itself: `true`, and the promise
  ///   starts later, as for ``cancelAndWait()``.
  @available(*, noasync, message: "use the async cancelAndWait() instead of blocking the thread")
  @discardableResult
  public func cancelAndWait(timeout: Duration) -> Bool {
    guard !cancelAndLook() else { return true }
    let deadline = ContinuousClock.now.advanced(by: timeout)
    var pause = Pause()
    while isRunning {
      guard ContinuousClock.now < deadline else { return false }
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
    ThreadRecord.barrier()
    return ThreadRecord.isCalledByThisThread(identity)
      || registry.taskCalls?.isCalledByCurrentTask(identity) ?? false
  }

  /// What the frame of a thread holds while it calls the entry, see `Entry.identity`.
  private var identity: UnsafeRawPointer { UnsafeRawPointer(reference) }

  private var isRunning: Bool {
    ThreadRecord.isCalled(identity)
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
