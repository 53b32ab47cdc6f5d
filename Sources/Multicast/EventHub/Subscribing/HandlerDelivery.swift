public import Dispatch

/// Where and how a handler is called.
@usableFromInline
enum HandlerDelivery<Event: Sendable>: Sendable {
  /// By the thread that sends.
  case sender(@Sendable (Event) -> Void)
  case queue(DispatchQueue, @Sendable (Event) -> Void)
  /// On an actor, which the hub does not keep alive. The function must be called there.
  case actor(any Actor, @Sendable (Event) -> Void)
  /// In tasks that begin on the actor, if there is one, with at most `limit` calls at once.
  case task((any Actor)?, limit: Int, @Sendable (Event) async -> Void)
}

/// A handler with dynamic isolation.
///
/// A structure around the function, because a cast of the function itself would wrap it in two
/// others, each with a context, which every call then passes through.
struct IsolatedHandler<Event: Sendable> {
  let function: @isolated(any) @Sendable (Event) -> Void

  private struct WithoutIsolation {
    let function: @Sendable (Event) -> Void
  }

  /// The same function, to be called on its actor, or anywhere if it has none.
  var withoutIsolation: @Sendable (Event) -> Void {
    // SAFETY: a synchronous function with dynamic isolation is called like one without, and both
    // consist of the same two words.
    unsafeBitCast(self, to: WithoutIsolation.self).function
  }
}

/// As ``IsolatedHandler``, of a handler that gets an object too: its owner or its subscription.
///
/// Constrained to objects: without that, the compiler would wrap the function in two others, as
/// other values are passed in another way.
struct IsolatedObjectHandler<Object: AnyObject, Event: Sendable> {
  let function: @isolated(any) @Sendable (Object, Event) -> Void

  private struct WithoutIsolation {
    let function: @Sendable (Object, Event) -> Void
  }

  /// As that of ``IsolatedHandler``.
  var withoutIsolation: @Sendable (Object, Event) -> Void {
    // SAFETY: as there.
    unsafeBitCast(self, to: WithoutIsolation.self).function
  }
}

/// As ``IsolatedHandler``, of a handler that gets its actor.
struct ActorHandler<Owner: Actor, Event: Sendable> {
  let function: @Sendable (isolated Owner, Event) -> Void

  private struct WithoutIsolation {
    let function: @Sendable (Owner, Event) -> Void
  }

  /// The same function, to be called on the actor.
  var withoutIsolation: @Sendable (Owner, Event) -> Void {
    // SAFETY: a synchronous function with an isolated parameter is called like one without, and
    // both consist of the same two words.
    unsafeBitCast(self, to: WithoutIsolation.self).function
  }
}

/// `handler` with `owner` as its first argument, which it does not keep alive.
func passing<Owner: AnyObject & Sendable, Event>(
  _ owner: Owner, to handler: @escaping @Sendable (Owner, Event) -> Void
) -> @Sendable (Event) -> Void {
  // SAFETY: the handler runs only while a delivery retains the target of its entry, the owner.
  let unretained = Unmanaged.passUnretained(owner)
  return { event in unretained._withUnsafeGuaranteedRef { handler($0, event) } }
}

// MARK: - Isolated handlers

extension HandlerDelivery {
  /// Calls `handler` on its actor; by the sender if it has none.
  ///
  /// - Parameter context: the actor on which `subscribe` was called. A method of an actor loses its
  ///   isolation when it is passed as a function, without a diagnostic, so a handler that names no
  ///   actor belongs to this one.
  @usableFromInline
  static func isolated(
    _ handler: @escaping @isolated(any) @Sendable (Event) -> Void, context: (any Actor)?
  ) -> Self {
    actorOrSender(handler.isolation ?? context, IsolatedHandler(function: handler).withoutIsolation)
  }

  /// As ``isolated(_:context:)``, with the owner of the subscription.
  @usableFromInline
  static func isolated<Owner: AnyObject & Sendable>(
    _ handler: @escaping @isolated(any) @Sendable (Owner, Event) -> Void, with owner: Owner,
    context: (any Actor)?
  ) -> Self {
    actorOrSender(
      handler.isolation ?? context,
      passing(owner, to: IsolatedObjectHandler(function: handler).withoutIsolation))
  }

  /// Calls `handler` on `owner`.
  @usableFromInline
  static func actor<Owner: Actor>(
    _ owner: Owner, _ handler: @escaping @Sendable (isolated Owner, Event) -> Void
  ) -> Self {
    .actor(owner, passing(owner, to: ActorHandler(function: handler).withoutIsolation))
  }

  static func queue<Owner: AnyObject & Sendable>(
    _ queue: DispatchQueue, _ handler: @escaping @Sendable (Owner, Event) -> Void, with owner: Owner
  ) -> Self {
    .queue(queue, passing(owner, to: handler))
  }

  /// Calls `handler` on `home`; by the sender if that is `nil`.
  static func actorOrSender(
    _ home: (any Actor)?, _ handler: @escaping @Sendable (Event) -> Void
  ) -> Self {
    home.map { .actor($0, handler) } ?? .sender(handler)
  }
}

// MARK: - Asynchronous handlers

extension HandlerDelivery {
  /// Awaits `handler`, in tasks that begin on its actor.
  static func isolated(
    limit: Int, _ handler: @escaping @isolated(any) @Sendable (Event) async -> Void,
    context: (any Actor)?
  ) -> Self {
    requireConcurrency(limit)
    return .task(handler.isolation ?? context, limit: limit) { await handler($0) }
  }

  /// As ``isolated(limit:_:context:)``, with the owner of the subscription.
  static func isolated<Owner: AnyObject & Sendable>(
    limit: Int, _ handler: @escaping @isolated(any) @Sendable (Owner, Event) async -> Void,
    with owner: Owner, context: (any Actor)?
  ) -> Self {
    requireConcurrency(limit)
    // SAFETY: as for `passing`.
    let unretained = Unmanaged.passUnretained(owner)
    return .task(handler.isolation ?? context, limit: limit) { event in
      await handler(unretained.takeUnretainedValue(), event)
    }
  }

  /// Awaits `handler` on `owner`.
  static func task<Owner: Actor>(
    _ owner: Owner, limit: Int,
    _ handler: @escaping @Sendable (isolated Owner, Event) async -> Void
  ) -> Self {
    requireConcurrency(limit)
    // SAFETY: as for `passing`.
    let unretained = Unmanaged.passUnretained(owner)
    return .task(owner, limit: limit) { event in
      await handler(unretained.takeUnretainedValue(), event)
    }
  }

  static func requireConcurrency(_ limit: Int) {
    require(
      limit >= 1,
      "Multicast: maxConcurrentCalls is \(limit), so no event could be handled; use at least 1.")
  }
}

// MARK: - Functions around a handler

extension HandlerDelivery {
  /// A delivery at the same place, to the handler that a function makes of this one.
  ///
  /// - Parameters:
  ///   - wrap: makes a handler of a synchronous one.
  ///   - wrapAsync: makes a handler of an asynchronous one.
  func wrapped(
    _ wrap: (@escaping @Sendable (Event) -> Void) -> @Sendable (Event) -> Void,
    async wrapAsync: (@escaping @Sendable (Event) async -> Void) -> @Sendable (Event) async -> Void
  ) -> Self {
    switch self {
    case .sender(let handler): .sender(wrap(handler))
    case .queue(let queue, let handler): .queue(queue, wrap(handler))
    case .actor(let home, let handler): .actor(home, wrap(handler))
    case .task(let home, let limit, let handler): .task(home, limit: limit, wrapAsync(handler))
    }
  }
}
