extension MulticastActor {
  /// Awaits `body` with each delegate, in registration order, on the executor of the hub.
  ///
  /// Calls the delegates that are registered when the invocation begins, except those removed
  /// before it reaches them, also while it is suspended. A delegate that is added in the meantime
  /// is called from the next invocation on. A weak delegate is retained for exactly its call. A
  /// strong one that is removed in the meantime lives until the invocation ends.
  ///
  /// Cancelling the calling task does not stop the invocation; the delegates can check for it.
  ///
  /// ```swift
  /// try await hub.invoke { delegate throws(Veto) in try await delegate.willClose() }
  /// ```
  ///
  /// In a serialized hub this first waits for the invocations before it. Deadlocks: a callback must
  /// not wait for an unstructured task that invokes the same serialized hub, and callbacks of two
  /// serialized hubs must not invoke each other.
  ///
  /// - Parameter body: called with each delegate. It may add, remove and invoke.
  /// - Throws: what `body` throws. The delegates after that one are not called.
  /// - Complexity: O(`count`).
  @inlinable
  public func invoke<E>(
    _ body: @Sendable (Delegate) async throws(E) -> Void
  ) async throws(E) {
    guard isSerialized else { return try await callInOrder(calls.take(), body) }
    let isEnqueued = await enterQueue()
    defer { if isEnqueued { leaveQueue() } }
    let call = calls.take()
    let scope = InvocationScope(calls, call)
    try await withTaskExecutorPreference(scope) { () async throws(E) in
      try await callInOrder(call, body)
    }
  }

  /// Awaits `body` with each delegate, in registration order, and releases `call`.
  @inlinable
  func callInOrder<E>(
    _ call: TaskCall.Pointer, _ body: @Sendable (Delegate) async throws(E) -> Void
  ) async throws(E) {
    let snapshot = entries
    guard !snapshot.isMeasured else { return try await measureInOrder(snapshot, call, body) }
    let lightBarrierIsFence = calls.lightBarrierIsFence
    var sawDead = false
    defer {
      withExtendedLifetime(snapshot) {}  // It keeps the entries, which are used unretained.
      calls.release(call)
      if sawDead { registry.pruneAfterInvocation() }
    }
    for index in 0..<snapshot.count {
      // SAFETY: the snapshot lives until the end and retains the entry; the entry holds the value,
      // and its target if that is strong.
      let entry = snapshot.entries[index]
      guard call.pointee.begin(entry, lightBarrierIsFence: lightBarrierIsFence) else {
        if Invocation.isBlockedAndDead(entry.head) { sawDead = true }
        continue
      }
      let head = entry.head
      guard head.pointee.isWeak else {
        try await Entry.value(head, as: Delegate.self).pointee.pass(on: self, to: body)
        continue
      }
      guard let target = WeakReference(word: head.pointee.target).promote() else {
        sawDead = true
        continue
      }
      // If this is the last release, the delegate's `deinit` runs here, outside any lock.
      defer { target.release() }
      try await Entry.value(head, as: Delegate.self).pointee.pass(on: self, to: body)
    }
  }

  /// As ``callInOrder(_:_:)``, for delegates whose calls are measured: a loop of its own, so that
  /// others are called without asking for each.
  @inlinable @inline(never)
  func measureInOrder<E>(
    _ snapshot: EntrySnapshot, _ call: TaskCall.Pointer,
    _ body: @Sendable (Delegate) async throws(E) -> Void
  ) async throws(E) {
    let lightBarrierIsFence = calls.lightBarrierIsFence
    var sawDead = false
    defer {
      withExtendedLifetime(snapshot) {}
      calls.release(call)
      if sawDead { registry.pruneAfterInvocation() }
    }
    for index in 0..<snapshot.count {
      // SAFETY: as there.
      let entry = snapshot.entries[index]
      guard call.pointee.begin(entry, lightBarrierIsFence: lightBarrierIsFence) else {
        if Invocation.isBlockedAndDead(entry.head) { sawDead = true }
        continue
      }
      let head = entry.head
      var target: Unmanaged<AnyObject>?
      if head.pointee.isWeak {
        target = WeakReference(word: head.pointee.target).promote()
        guard target != nil else {
          sawDead = true
          continue
        }
      }
      defer { target?.release() }
      let measured = MeasuredCall(of: head)
      defer { measured.end() }
      try await Entry.value(head, as: Delegate.self).pointee.pass(on: self, to: body)
    }
  }
}

extension EntryValue {
  /// Awaits `body` with the value, on `actor`.
  ///
  /// Borrows the value, as ``pass(to:)`` does, because using it in the loop would copy it for each
  /// call. The isolated parameter avoids a switch to the actor on which the loop already runs.
  /// Either would cost several times as much as the rest of a delivery.
  @inlinable
  borrowing func pass<E>(
    on actor: isolated MulticastActor<Value>, to body: (Value) async throws(E) -> Void
  ) async throws(E) where Value: Sendable {
    try await body(value)
  }

  /// Awaits `body` with the value in the calling task.
  @inlinable
  borrowing func pass<R>(to body: (Value) async -> R) async -> R {
    await body(value)
  }
}
