extension SubscriberOption {
  /// Each call of the handler runs inside a function of yours, for example in a span of a trace.
  ///
  /// ```swift
  /// hub.subscribe(
  ///   options: [
  ///     .intercepting { call in signposted { call() } } async: { call in await call() }
  ///   ]
  /// ) { event in show(event) }
  /// ```
  /// It runs where the handler is called: by the sender, on the queue, on the actor or in the task
  /// of the subscriber, with no lock held. Inside it the values of ``carrying(_:)`` are bound. A
  /// call that ``removingDuplicates`` leaves out is not intercepted, nor is one that ``first(_:)``
  /// leaves out if that option comes later among the `options`. The first of several interceptors
  /// is the innermost. If ``first(_:)`` comes earlier among the `options`, a flush of the hub does
  /// not wait for what the function does after the last call.
  ///
  /// An event whose `call` the function does not make was delivered, though its handler did not
  /// run; one whose `call` it makes twice reaches the handler twice.
  ///
  /// - Parameters:
  ///   - interceptor: called instead of a synchronous handler. Its argument calls the handler.
  ///   - asyncInterceptor: called instead of an asynchronous handler.
  /// - Returns: the option.
  public static func intercepting(
    _ interceptor: @escaping @Sendable (_ call: () -> Void) -> Void,
    async asyncInterceptor:
      @escaping @Sendable (_ call: @Sendable () async -> Void) async -> Void
  ) -> Self {
    Self { $0.delivery = $0.delivery.intercepted(by: interceptor, asyncInterceptor) }
  }
}

extension HandlerDelivery {
  /// The same, with each call inside of a function.
  fileprivate func intercepted(
    by interceptor: @escaping @Sendable (() -> Void) -> Void,
    _ asyncInterceptor: @escaping @Sendable (@Sendable () async -> Void) async -> Void
  ) -> Self {
    wrapped { handler in
      { event in interceptor { handler(event) } }
    } async: { handler in
      { event in await asyncInterceptor { await handler(event) } }
    }
  }
}
