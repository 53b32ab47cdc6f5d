public import Synchronization

/// One concurrent invocation: what its children have in common.
///
/// ## Thread safety
/// The flags are atomic, the rest never changes.
@usableFromInline
final class ConcurrentInvocation<Value: Sendable, Answer: Sendable>: @unchecked Sendable {
  // Sendable: see "Thread safety".
  @usableFromInline let snapshot: EntrySnapshot
  @usableFromInline let body: @Sendable (Value) async -> Answer
  @usableFromInline let lightBarrierIsFence: Bool
  // Relaxed everywhere: nothing is read on the strength of the flags.
  @usableFromInline let isOver = Atomic(false)
  @usableFromInline let metDead = Atomic(false)

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

/// What a child task is to do: call the entry at an index.
@usableFromInline
struct Child: @unchecked Sendable {
  // Sendable: the child uses the call until it has replied, and then its parent does.
  @usableFromInline let index: Int
  @usableFromInline let call: TaskCall.Pointer

  @inlinable
  init(index: Int, call: TaskCall.Pointer) {
    self.index = index
    self.call = call
  }
}

/// What a task of the group has to say.
@usableFromInline
enum Reply<Answer: Sendable>: Sendable {
  /// The delegate was called.
  case ended(Child, Answer)
  /// The delegate was not called: it was removed, it is dead, or the invocation is over.
  case notCalled(Child)
  /// The timer has fired.
  case timeIsOver
  /// Nobody needs the timer any more.
  case timerStopped
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
      call.pointee.end()
      return .notCalled(child)
    }
    let head = entry.head
    guard head.pointee.isWeak else {
      let answer = await Entry.value(head, as: Value.self).pointee.pass(to: body)
      call.pointee.end()
      return .ended(child, answer)
    }
    guard let target = WeakReference(word: head.pointee.target).promote() else {
      metDead.store(true, ordering: .relaxed)
      call.pointee.end()
      return .notCalled(child)
    }
    let answer = await Entry.value(head, as: Value.self).pointee.pass(to: body)
    // This may be the last release: then the delegate's `deinit` runs here, outside of any lock.
    target.release()
    call.pointee.end()
    return .ended(child, answer)
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

  /// From now on no child begins to call.
  @usableFromInline
  func end() {
    isOver.store(true, ordering: .relaxed)
  }

  /// Whether a child came across a delegate that is gone.
  @usableFromInline var sawDead: Bool { metDead.load(ordering: .relaxed) }

  /// Whether the delegate at `index` can still be called.
  @usableFromInline
  func isLive(_ index: Int) -> Bool {
    // SAFETY: as in `run`.
    snapshot.entries[index]._withUnsafeGuaranteedRef { $0.isLive }
  }
}

extension Result where Success: Sendable {
  /// What `body` returns or throws for `argument`.
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
