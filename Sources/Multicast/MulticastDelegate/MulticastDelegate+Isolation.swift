// Delegates that belong to an actor, and closures that do.

extension MulticastDelegate where Delegate: Sendable {
  /// Adds `delegate` after the others; ``invoke(_:)`` calls it on the main actor.
  ///
  /// As ``add(_:ownership:on:buffering:label:fileID:line:)-(_,_,DispatchQueue,_,_,_,_)``, with the
  /// main actor in place of the queue.
  ///
  /// - Parameters:
  ///   - delegate: the delegate to call.
  ///   - ownership: whether the hub keeps it alive. A weak delegate is retained for each call only.
  ///   - main: `.main`.
  ///   - buffering: how many calls may wait, and what happens to further ones.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  /// - Returns: a handle that can end the registration and has ``Registration/statistics``.
  /// - Precondition: as for ``add(_:ownership:label:fileID:line:)``; a limit of `buffering` is at
  ///   least 1.
  /// - Complexity: as for ``add(_:ownership:label:fileID:line:)``.
  @discardableResult
  public func add(
    _ delegate: Delegate, ownership: Ownership = .weak, on main: MainActorPlace,
    buffering: QueueBuffering = .unbounded, label: String? = nil, fileID: StaticString = #fileID,
    line: UInt = #line
  ) -> Registration<Delegate> {
    addUnchecked(delegate, ownership, on: MainActor.shared, buffering, Origin(fileID, line, label))
  }

  /// Adds `delegate` after the others; ``invoke(_:)`` calls it on `home`.
  ///
  /// As ``add(_:ownership:on:buffering:label:fileID:line:)-(_,_,DispatchQueue,_,_,_,_)``, with an
  /// actor in place of the queue. A burst of calls wakes the actor once. Calls that take longer
  /// than 100 microseconds together, and at least 64, let other work of the actor run between
  /// them.
  ///
  /// - Parameters:
  ///   - delegate: the delegate to call.
  ///   - ownership: whether the hub keeps it alive. A weak delegate is retained for each call only.
  ///   - home: the actor on which to call it; not kept alive. The registration ends with it, at the
  ///     next call of `invoke`, which still counts it.
  ///   - buffering: how many calls may wait, and what happens to further ones.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  /// - Returns: a handle that can end the registration and has ``Registration/statistics``.
  /// - Precondition: as for ``add(_:ownership:label:fileID:line:)``; a limit of `buffering` is at
  ///   least 1.
  /// - Complexity: as for ``add(_:ownership:label:fileID:line:)``.
  @discardableResult
  public func add(
    _ delegate: Delegate, ownership: Ownership = .weak, on home: any Actor,
    buffering: QueueBuffering = .unbounded, label: String? = nil, fileID: StaticString = #fileID,
    line: UInt = #line
  ) -> Registration<Delegate> {
    addUnchecked(delegate, ownership, on: home, buffering, Origin(fileID, line, label))
  }
}

extension MulticastDelegate {
  /// Adds `delegate`, which need not be `Sendable`, on the main actor; ``invoke(_:)`` calls it
  /// there.
  ///
  /// - Parameters:
  ///   - delegate: compared by identity.
  ///   - ownership: whether the hub keeps it alive.
  ///   - main: write `.main`.
  ///   - buffering: how many calls may wait, and what happens when the buffer is full.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  /// - Returns: a handle that can end the registration and has ``Registration/statistics``.
  /// - Precondition: as for ``add(_:ownership:label:fileID:line:)``; a limit of `buffering` is at
  ///   least 1.
  /// - Complexity: as for ``add(_:ownership:label:fileID:line:)``.
  @MainActor @discardableResult
  public func add(
    _ delegate: Delegate, ownership: Ownership = .weak, on main: MainActorPlace,
    buffering: QueueBuffering = .unbounded, label: String? = nil, fileID: StaticString = #fileID,
    line: UInt = #line
  ) -> Registration<Delegate> {
    addUnchecked(delegate, ownership, on: MainActor.shared, buffering, Origin(fileID, line, label))
  }

  private func addUnchecked(
    _ delegate: Delegate, _ ownership: Ownership, on home: any Actor, _ buffering: QueueBuffering,
    _ origin: Origin
  ) -> Registration<Delegate> {
    let (limit, whenFull) = buffering.limit
    // Weak, because the registry keeps the entry, which keeps the mailbox.
    let mailbox = ActorMailbox(
      on: home, limit: limit, whenFull: whenFull, drops: registry.callDrops(of: buffering),
      whenExhausted: { [weak registry] entry in registry?.remove(entry) })
    return Registration(
      registry.add(delegate, ownership: ownership, mailbox: mailbox, origin: origin))
  }
}

// MARK: - Isolated invocations

extension MulticastDelegate {
  /// Calls `body` with each delegate on the actor to which `body` belongs: in registration order,
  /// but those that were added on the same actor in an order of their own.
  ///
  /// ```swift
  /// hub.invokeIsolated { @MainActor view in view.show("saved") }
  /// ```
  /// The call is always enqueued, also if the caller is on that actor: the delegates are called in
  /// a later turn, in the order of each sender. A burst of invocations wakes the actor once. Each
  /// invocation calls the delegates that are registered when this function is called, except those
  /// removed before their call. A delegate that was added on the same actor has its own buffer,
  /// limit and statistics; for others, the place with which they were added is ignored, because
  /// `body` may run only on its actor.
  ///
  /// If `body` belongs to no actor, it is called on that of the caller; if there is none either,
  /// this is ``invoke(_:)``.
  ///
  /// A protocol that belongs to an actor gets an extension that calls this function. With it,
  /// `hub.invoke { $0.show("saved") }` compiles everywhere (see <doc:Isolation>):
  /// ```swift
  /// extension MulticastDelegate where Delegate == any StatusDelegate {
  ///   @discardableResult
  ///   func invoke(_ body: @escaping @MainActor @Sendable (any StatusDelegate) -> Void) -> Int {
  ///     invokeIsolated(body)
  ///   }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - isolation: the actor that calls this function. Leave it out.
  ///   - body: called with each delegate. It may add, remove and invoke.
  /// - Returns: the number of delegates for which the call was enqueued.
  /// - Complexity: O(`count`).
  @discardableResult
  public func invokeIsolated(
    isolation: isolated (any Actor)? = #isolation,
    _ body: @escaping @isolated(any) @Sendable (Delegate) -> Void
  ) -> Int where Delegate: Sendable {
    uncheckedInvokeIsolated(isolation: isolation, body)
  }

  /// As ``invokeIsolated(isolation:_:)``, for a caller that knows that delegates which are not
  /// `Sendable` are used only on the actor of `body`.
  @discardableResult
  package func uncheckedInvokeIsolated(
    isolation: (any Actor)?, _ body: @escaping @isolated(any) @Sendable (Delegate) -> Void
  ) -> Int {
    let unchecked = Self.withoutIsolation(body)
    guard let home = body.isolation ?? isolation else { return invoke(unchecked) }
    return registry.enqueue(on: home, through: isolatedCalls, unchecked)
  }

  /// As ``invokeIsolated(isolation:_:)`` on `home`, the actor of `body`, for delegates that belong
  /// to it: the caller, which may be on any thread, becomes the last owner of none.
  package func invokeOwned(
    on home: any Actor, _ body: @escaping @isolated(any) @Sendable (Delegate) -> Void
  ) -> Int {
    registry.enqueueOwned(on: home, through: isolatedCalls, Self.withoutIsolation(body))
  }

  /// `body`, to be called on its actor, or anywhere if it has none.
  private static func withoutIsolation(
    _ body: @escaping @isolated(any) @Sendable (Delegate) -> Void
  ) -> @Sendable (Delegate) -> Void {
    // SAFETY: a synchronous function with dynamic isolation is called like one without.
    unsafeBitCast(body, to: (@Sendable (Delegate) -> Void).self)
  }

  /// Awaits `body` with each delegate on the actor that `home` returns for it.
  ///
  /// For delegates that are actors. The calls are enqueued: each delegate gets them one at a time,
  /// in the order of each sender, and all delegates run concurrently. A burst of calls wakes a
  /// delegate once.
  ///
  /// A protocol of actors gets an extension that calls this function (see <doc:Isolation>):
  /// ```swift
  /// extension MulticastDelegate where Delegate == any Account {  // protocol Account: Actor
  ///   @discardableResult
  ///   func invoke(_ body: @escaping @Sendable (isolated any Account) -> Void) -> Int {
  ///     invoke(onEach: { $0 }) { await body($0) }
  ///   }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - home: the actor of a delegate. Called with each delegate at its first such call, for which
  ///     the sender retains it. If it returns an actor that the delegate does not keep alive, the
  ///     delegate gets no such calls after that actor is gone.
  ///   - body: called with each delegate. It may add, remove and invoke.
  /// - Returns: the number of delegates for which the call was enqueued.
  /// - Precondition: the delegates were added without a place.
  /// - Complexity: O(`count`).
  @discardableResult
  public func invoke(
    onEach home: (Delegate) -> any Actor, _ body: @escaping @Sendable (Delegate) async -> Void
  ) -> Int where Delegate: Sendable {
    registry.enqueueOnEach(home, body)
  }
}

// MARK: - Calls from elsewhere

extension MulticastDelegate where Delegate: Sendable {
  /// Calls `body` with each delegate, as `forEach(_:)` does, on the actor to which `body` belongs,
  /// and returns when it has.
  ///
  /// ```swift
  /// await hub.forEachIsolated { @MainActor in $0.show("saved") }
  /// ```
  ///
  /// - Parameters:
  ///   - isolation: the actor that calls this function. Leave it out.
  ///   - body: called with each delegate. It may add, remove and invoke.
  /// - Throws: what `body` throws. The delegates after that one are not called.
  /// - Complexity: O(`count`), and a switch to the actor.
  public func forEachIsolated<E>(
    isolation: isolated (any Actor)? = #isolation,
    _ body: @escaping @isolated(any) @Sendable (Delegate) throws(E) -> Void
  ) async throws(E) {
    // SAFETY: called on the actor of `body`, or of the caller: see `run`.
    let unchecked = unsafeBitCast(body, to: (@Sendable (Delegate) throws(E) -> Void).self)
    try await run(on: body.isolation ?? isolation) { () throws(E) in
      try forEach(throwing: E.self, unchecked)
    }
  }

  /// Calls `body` with each delegate, as ``results(_:)`` does, on the actor to which `body`
  /// belongs.
  ///
  /// - Parameters:
  ///   - isolation: the actor that calls this function. Leave it out.
  ///   - body: called with each delegate. It may add, remove and invoke.
  /// - Returns: what `body` returns or throws for each delegate, in registration order.
  /// - Complexity: O(`count`), and a switch to the actor.
  public func resultsIsolated<T: Sendable, E>(
    isolation: isolated (any Actor)? = #isolation,
    _ body: @escaping @isolated(any) @Sendable (Delegate) throws(E) -> T
  ) async -> [Result<T, E>] {
    // SAFETY: called on the actor of `body`, or of the caller: see `run`.
    let unchecked = unsafeBitCast(body, to: (@Sendable (Delegate) throws(E) -> T).self)
    return await run(on: body.isolation ?? isolation) { results(unchecked) }
  }

  /// Calls `body` with each delegate, as ``firstResult(_:)`` does, on the actor to which `body`
  /// belongs.
  ///
  /// - Parameters:
  ///   - isolation: the actor that calls this function. Leave it out.
  ///   - body: called with each delegate until it returns a value that is not `nil`.
  /// - Returns: that value, or `nil` if there is none.
  /// - Throws: what `body` throws. The delegates after that one are not called.
  /// - Complexity: O(`count`), and a switch to the actor.
  public func firstResultIsolated<T: Sendable, E>(
    isolation: isolated (any Actor)? = #isolation,
    _ body: @escaping @isolated(any) @Sendable (Delegate) throws(E) -> T?
  ) async throws(E) -> T? {
    // SAFETY: called on the actor of `body`, or of the caller: see `run`.
    let unchecked = unsafeBitCast(body, to: (@Sendable (Delegate) throws(E) -> T?).self)
    return try await run(on: body.isolation ?? isolation) { () throws(E) in
      try firstResult(unchecked)
    }
  }

  /// Calls `body` with each delegate, as ``lastResult(_:)`` does, on the actor to which `body`
  /// belongs.
  ///
  /// - Parameters:
  ///   - isolation: the actor that calls this function. Leave it out.
  ///   - body: called with each delegate.
  /// - Returns: the last value that is not `nil`, or `nil` if there is none.
  /// - Throws: what `body` throws. The delegates after that one are not called.
  /// - Complexity: O(`count`), and a switch to the actor.
  public func lastResultIsolated<T: Sendable, E>(
    isolation: isolated (any Actor)? = #isolation,
    _ body: @escaping @isolated(any) @Sendable (Delegate) throws(E) -> T?
  ) async throws(E) -> T? {
    // SAFETY: called on the actor of `body`, or of the caller: see `run`.
    let unchecked = unsafeBitCast(body, to: (@Sendable (Delegate) throws(E) -> T?).self)
    return try await run(on: body.isolation ?? isolation) { () throws(E) in
      try lastResult(unchecked)
    }
  }

  /// Runs `work` on `home`; if that is `nil`, on the global executor.
  private func run<R: Sendable, E>(
    on home: isolated (any Actor)?, _ work: @Sendable () throws(E) -> R
  ) async throws(E) -> R {
    try work()
  }
}
