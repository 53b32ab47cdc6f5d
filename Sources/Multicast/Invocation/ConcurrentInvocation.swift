public import Synchronization

/// One concurrent invocation: the state that its children share.
///
/// ## Thread safety
/// The flags are atomic; the rest never changes.
@usableFromInline
final class ConcurrentInvocation<Value: Sendable, Answer: Sendable>: Sendable {
  @usableFromInline let snapshot: EntrySnapshot
  @usableFromInline let body: @Sendable (Value) async -> Answer
  @usableFromInline let lightBarrierIsFence: Bool
  // Relaxed everywhere: the flags publish nothing else.
  @usableFromInline let isOver = Atomic(false)
  @usableFromInline let foundDead = Atomic(false)

  @usableFromInline
  init(
    _ snapshot: EntrySnapshot, _ calls: TaskCalls,
    _ body: @escaping @Sendable (Value) async -> Answer
  ) {
    self.snapshot = snapshot
    self.body = body
    lightBarrierIsFence = calls.lightBarrierIsFence
  }
}

/// A child task, which calls the entry at an index.
@usableFromInline
struct Child: @unchecked Sendable {
  // Sendable: the child uses the call until it has replied, and its parent uses it afterwards.
  @usableFromInline let index: Int
  @usableFromInline let call: TaskCall.Pointer

  @inlinable
  init(index: Int, call: TaskCall.Pointer) {
    self.index = index
    self.call = call
  }
}

/// The result of a task of the group: of a child, or of the timer.
@usableFromInline
enum Reply<Answer: Sendable>: Sendable {
  /// The delegate was called. The call may have ended after the time of the invocation.
  case ended(Child, Answer, isLate: Bool)
  /// The delegate was not called: it was removed, it is dead, or the invocation is over.
  case notCalled(Child)
  /// The timer has fired.
  case timeIsOver
  /// The timer was cancelled, or its clock has failed.
  case timerStopped

  /// As it is, of a call that has ended now.
  ///
  /// - Parameter end: the end of the time; `nil`: there is none.
  @inlinable
  func late<Time: Clock>(after end: Time.Instant?, _ clock: Time) -> Self {
    guard let end, case .ended(let child, let answer, isLate: _) = self else { return self }
    return .ended(child, answer, isLate: clock.now >= end)
  }
}

extension ConcurrentInvocation {
  /// Calls the delegate of `child`. Runs in the child.
  @inlinable
  func run(_ child: Child) async -> Reply<Answer> {
    guard !isOver.load(ordering: .relaxed) else { return .notCalled(child) }
    // SAFETY: the snapshot, which `self` keeps, holds the entry.
    let entry = snapshot.entries[child.index]
    let call = child.call
    call.pointee.task.store(.current, ordering: .relaxed)  // Relaxed: see `TaskCall`.
    guard call.pointee.begin(entry, lightBarrierIsFence: lightBarrierIsFence) else {
      if Invocation.isBlockedAndDead(entry.head) { foundDead.store(true, ordering: .relaxed) }
      call.pointee.end()
      return .notCalled(child)
    }
    let head = entry.head
    guard head.pointee.isWeak else {
      let measured = snapshot.isMeasured ? MeasuredCall(of: head) : nil
      let answer = await Entry.value(head, as: Value.self).pointee.pass(to: body)
      measured?.end()
      call.pointee.end()
      return .ended(child, answer, isLate: false)
    }
    guard let target = WeakReference(word: head.pointee.target).promote() else {
      foundDead.store(true, ordering: .relaxed)
      call.pointee.end()
      return .notCalled(child)
    }
    let measured = snapshot.isMeasured ? MeasuredCall(of: head) : nil
    let answer = await Entry.value(head, as: Value.self).pointee.pass(to: body)
    measured?.end()
    // If this is the last release, the delegate's `deinit` runs here, outside of any lock.
    target.release()
    call.pointee.end()
    return .ended(child, answer, isLate: false)
  }

  /// Calls the delegate of `child`, in a child task that prefers `scope`, and keeps the scope.
  @inlinable
  func run(_ child: Child, in scope: InvocationScope) async -> Reply<Answer> {
    let reply = await run(child)
    withExtendedLifetime(scope) {}
    return reply
  }

  /// Sleeps until `end`, in a child task that prefers `scope`, and keeps the scope.
  @inlinable
  func runTimer<Time: Clock>(
    until end: Time.Instant, _ clock: Time, in scope: InvocationScope?
  ) async -> Reply<Answer> {
    defer { withExtendedLifetime(scope) {} }
    do {
      try await clock.sleep(until: end, tolerance: nil)
      return .timeIsOver
    } catch {
      return .timerStopped
    }
  }

  /// Stops children that have not begun their call.
  @usableFromInline
  func end() {
    isOver.store(true, ordering: .relaxed)
  }

  /// Whether a child found a dead delegate.
  @usableFromInline var sawDead: Bool { foundDead.load(ordering: .relaxed) }

  /// Whether the delegate at `index` could be called now.
  @usableFromInline
  func isLive(_ index: Int) -> Bool {
    // SAFETY: as in `run`.
    snapshot.entries[index]._withUnsafeGuaranteedRef { $0.isLive && !$0.isBlocked }
  }
}

extension Result where Success: Sendable {
  /// The outcome of `body` for `argument`.
  @inlinable
  init<Argument>(
    of body: (Argument) async throws(Failure) -> Success, _ argument: Argument
  ) async {
    do throws(Failure) {
      self = .success(try await body(argument))
    } catch {
      self = .failure(error)
    }
  }
}
