public import Multicast
public import Tracing

// Sending in a span. The span lasts as long as the call, so it contains the calls of the handlers
// that the sender makes, and is the parent of the others.

extension EventHub {
  /// Sends `event` in a span, as `send(_:)` does.
  ///
  /// The span is of the kind `producer`, has the attribute `multicast.receivers`, what `send`
  /// returned, and `multicast.hub`, if the hub has a name. A ``Traced`` event keeps the context
  /// that it was made with: `send(tracing:inSpan:tracer:)` gives it that of the span.
  ///
  /// - Parameters:
  ///   - event: what subscribers receive.
  ///   - operationName: the name of the span.
  ///   - tracer: begins the span; `nil`: the current one of `InstrumentationSystem`.
  /// - Returns: as `send(_:)`.
  @discardableResult
  public func send(
    _ event: Event, inSpan operationName: String, tracer: (any Tracer)? = nil
  ) -> Int {
    sendInSpan(operationName, tracer, name) { send(event) }
  }

  /// Sends `event` with the current service context: inside the span, if one is named.
  ///
  /// - Parameters:
  ///   - event: what subscribers receive.
  ///   - operationName: the name of a span in which to send; `nil`: no span.
  ///   - tracer: begins the span; `nil`: the current one of `InstrumentationSystem`.
  /// - Returns: as `send(_:)`.
  @discardableResult
  public func send<Content: Sendable>(
    tracing event: Content, inSpan operationName: String? = nil, tracer: (any Tracer)? = nil
  ) -> Int where Event == Traced<Content> {
    guard let operationName else { return send(Traced(event)) }
    return sendInSpan(operationName, tracer, name) { send(Traced(event)) }
  }
}

extension TopicHub {
  /// Sends `event` to `topic` in a span, as `send(_:to:)` does.
  ///
  /// The span is as that of `EventHub.send(_:inSpan:tracer:)`, with the attribute
  /// `multicast.topic`.
  ///
  /// - Parameters:
  ///   - event: what subscribers receive.
  ///   - topic: whose subscribers.
  ///   - operationName: the name of the span.
  ///   - tracer: begins the span; `nil`: the current one of `InstrumentationSystem`.
  /// - Returns: as `send(_:to:)`.
  @discardableResult
  public func send(
    _ event: Event, to topic: Topic, inSpan operationName: String, tracer: (any Tracer)? = nil
  ) -> Int {
    sendInSpan(operationName, tracer, name, topic: "\(topic)") { send(event, to: topic) }
  }

  /// Sends `event` to `topic` with the current service context: inside the span, if one is named.
  ///
  /// - Parameters:
  ///   - event: what subscribers receive.
  ///   - topic: whose subscribers.
  ///   - operationName: the name of a span in which to send; `nil`: no span.
  ///   - tracer: begins the span; `nil`: the current one of `InstrumentationSystem`.
  /// - Returns: as `send(_:to:)`.
  @discardableResult
  public func send<Content: Sendable>(
    tracing event: Content, to topic: Topic, inSpan operationName: String? = nil,
    tracer: (any Tracer)? = nil
  ) -> Int where Event == Traced<Content> {
    guard let operationName else { return send(Traced(event), to: topic) }
    return sendInSpan(operationName, tracer, name, topic: "\(topic)") {
      send(Traced(event), to: topic)
    }
  }
}

private func sendInSpan(
  _ operationName: String, _ tracer: (any Tracer)?, _ hub: String?, topic: String? = nil,
  _ send: () -> Int
) -> Int {
  (tracer ?? InstrumentationSystem.tracer)
    .withAnySpan(operationName, ofKind: .producer) { span in
      if let hub { span.attributes["multicast.hub"] = hub }
      if let topic { span.attributes["multicast.topic"] = topic }
      let receivers = send()
      span.attributes["multicast.receivers"] = receivers
      return receivers
    }
}
