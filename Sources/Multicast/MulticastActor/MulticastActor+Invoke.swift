extension MulticastActor {
  /// Awaits `body` with each delegate, in registration order, on the executor of the hub.
  ///
  /// The delegates are those that are registered at the beginning, less those that are removed
  /// before their turn, also while the invocation is suspended. One that is added meanwhile waits
  /// for the next invocation. A weak delegate is retained for exactly its call. One that is held
  /// strongly and removed meanwhile stays alive until the invocation ends.
  ///
  /// If the calling task is cancelled, the delegates see that, and each is called all the same.
  ///
  /// ```swift
  /// try await hub.invoke { delegate throws(Veto) in try await delegate.willClose() }
  /// ```
  ///
  /// In a serialized hub it first waits for its turn. A callback that waits for an unstructured task
  /// which invokes the same serialized hub waits for ever.
  ///
  /// - Parameter body: what to do with a delegate. It may add, remove and invoke.
  /// - Throws: what `body` throws. The delegates behind are not called then.
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

  /// Awaits `body` with each delegate, in registration order, and gives `call` back.
  @inlinable
  func callInOrder<E>(
    _ call: TaskCall.Pointer, _ body: @Sendable (Delegate) async throws(E) -> Void
  ) async throws(E) {
    let snapshot = snapshot
    let lightBarrierIsFence = calls.lightBarrierIsFence
    var sawDead = false
    defer {
      withExtendedLifetime(snapshot) {}  // It keeps the entries that are used without a retain.
      calls.release(call)
      if sawDead { registry.pruneAfterInvocation() }
    }
    for index in 0..<snapshot.count {
      // SAFETY: the snapshot, which lives until the end, holds the entry; the entry holds the value,
      // with its target if that is strong.
      let entry = snapshot.entries[index]
      guard call.pointee.begin(entry, lightBarrierIsFence: lightBarrierIsFence) else { continue }
      let head = entry.head
      guard head.pointee.isWeak else {
        try await Entry.value(head, as: Delegate.self).pointee.pass(on: self, to: body)
        continue
      }
      guard let target = WeakReference(word: head.pointee.target).promote() else {
        sawDead = true
        continue
      }
      // This may be the last release: then the delegate's `deinit` runs here, outside of any lock.
      defer { target.release() }
      try await Entry.value(head, as: Delegate.self).pointee.pass(on: self, to: body)
    }
  }
}

extension EntryValue {
  /// Awaits `body` with the value, on `actor`.
  ///
  /// As ``pass(to:)`` this is a borrow, where naming the value in the loop would copy it for each
  /// call; and the parameter spares the switch to the actor that the loop is on anyway. Both cost
  /// several times what the rest of a delivery does.
  @inlinable
  borrowing func pass<E>(
    on actor: isolated MulticastActor<Value>, to body: (Value) async throws(E) -> Void
  ) async throws(E) where Value: Sendable {
    try await body(value)
  }

  /// Awaits `body` with the value, in the task that calls.
  @inlinable
  borrowing func pass<R>(to body: (Value) async -> R) async -> R {
    await body(value)
  }
}
