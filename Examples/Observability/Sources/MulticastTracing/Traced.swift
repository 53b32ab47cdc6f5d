public import Tracing

/// An event with the service context of its sender, for hubs whose consumers iterate sequences.
///
/// A handler needs no such type: see `SubscriberOption.traced`. A loop over a sequence has no place
/// where a library could bind a task-local, and a buffer or a retained event outlives the task that
/// sent it. So the context travels with the event.
///
/// ```swift
/// let orders = EventHub<Traced<Order>>()
/// let sequence = orders.events()
///
/// orders.send(Traced(order))  // with the service context of this task
///
/// for await order in sequence {
///   await order.withSpan("store order") { order, span in await store(order) }
/// }
/// ```
///
/// ## Thread safety
/// A value: any thread may use its copy.
public struct Traced<Event: Sendable>: Sendable {
  /// What was sent.
  public let event: Event

  /// The service context in which this was made, or that was given; `nil` if there was none.
  public let context: ServiceContext?

  /// Attaches a service context to an event.
  ///
  /// - Parameters:
  ///   - event: what to send.
  ///   - context: that of the current task, unless another one is given.
  public init(_ event: Event, context: ServiceContext? = .current) {
    self.event = event
    self.context = context
  }
}

extension Traced: Equatable where Event: Equatable {
  /// Whether the events are equal. Contexts cannot be compared.
  ///
  /// - Parameters:
  ///   - first: an event.
  ///   - second: another one.
  /// - Returns: whether they are equal.
  public static func == (first: Traced, second: Traced) -> Bool { first.event == second.event }
}

extension Traced {
  /// Runs `body` in a span whose parent is the span of `context`.
  ///
  /// Inside it `ServiceContext.current` is that of the span.
  ///
  /// - Parameters:
  ///   - operationName: the name of the span.
  ///   - tracer: begins the span; `nil`: the current one of `InstrumentationSystem`.
  ///   - body: called with the event and the span.
  /// - Returns: what `body` returns.
  /// - Throws: what `body` throws; the span records it.
  public func withSpan<Result>(
    _ operationName: String, tracer: (any Tracer)? = nil,
    _ body: (Event, any Span) throws -> Result
  ) rethrows -> Result {
    try (tracer ?? InstrumentationSystem.tracer)
      .withAnySpan(operationName, context: context ?? .topLevel, ofKind: .consumer) { span in
        try body(event, span)
      }
  }

  /// Awaits `body` in a span whose parent is the span of `context`.
  ///
  /// Inside it `ServiceContext.current` is that of the span.
  ///
  /// - Parameters:
  ///   - operationName: the name of the span.
  ///   - tracer: begins the span; `nil`: the current one of `InstrumentationSystem`.
  ///   - isolation: the actor that calls this function. Leave it out.
  ///   - body: called with the event and the span.
  /// - Returns: what `body` returns.
  /// - Throws: what `body` throws; the span records it.
  public func withSpan<Result>(
    _ operationName: String, tracer: (any Tracer)? = nil,
    isolation: isolated (any Actor)? = #isolation,
    _ body: (Event, any Span) async throws -> Result
  ) async rethrows -> Result {
    try await (tracer ?? InstrumentationSystem.tracer)
      .withAnySpan(operationName, context: context ?? .topLevel, ofKind: .consumer) { span in
        try await body(event, span)
      }
  }
}
