public import Multicast
public import Tracing

extension SubscriberOption {
  /// Each call of the handler is a span, whose parent is the span in which the event was sent.
  ///
  /// ```swift
  /// let subscription = prices.subscribe(options: [.traced("show price")]) { price in
  ///   show(price)  // inside a span, on whichever actor or queue
  /// }
  /// ```
  /// The span of an asynchronous handler lasts until the handler has returned. Inside the handler
  /// `ServiceContext.current` is that of the span, so what the handler calls belongs to the trace.
  /// An event of a replay has no sender, and begins a trace of its own; but a handler that senders
  /// call sees the context of the thread that delivers it, mostly the one that subscribes, and the
  /// span is below that.
  ///
  /// The service context of the sender travels with each event to this subscriber: see
  /// `SubscriberOption.carrying`, which has the cost.
  ///
  /// - Parameters:
  ///   - operationName: the name of the span.
  ///   - tracer: begins the spans; `nil`: the current one of `InstrumentationSystem` at each call.
  /// - Returns: the option.
  public static func traced(_ operationName: String, tracer: (any Tracer)? = nil) -> Self {
    combining([
      .carryingServiceContext,
      .intercepting { call in
        (tracer ?? InstrumentationSystem.tracer)
          .withAnySpan(operationName, ofKind: .consumer) { _ in call() }
      } async: { call in
        await (tracer ?? InstrumentationSystem.tracer)
          .withAnySpan(operationName, ofKind: .consumer) { _ in await call() }
      },
    ])
  }

  /// The handler sees the `ServiceContext.current` of the sender, without a span of its own.
  public static var carryingServiceContext: Self { .carrying(ServiceContext.$current) }
}
