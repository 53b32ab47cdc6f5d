internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

extension Routes {
  /// The stream of several topics.
  func subscribe(
    _ request: Request, _ query: Substring?, _ channel: any Channel
  ) async throws(RequestError) -> Response {
    let streamRequest = try StreamRequest(request.headers, query: query, hasTopics: true)
    let grant = try await access.authorize(
      request.headers, query: streamRequest.token, .subscribe)
    let selection = try TopicSelection(streamRequest.topics, grant, settings)
    try streamRequest.checkPolicy(for: selection)
    return try await subscribe(selection, streamRequest, request, channel, until: grant.end)
  }

  func subscribe(
    _ selection: TopicSelection, _ streamRequest: StreamRequest, _ request: Request,
    _ channel: any Channel,
    until end: NIODeadline?
  ) async throws(RequestError) -> Response {
    let stream = try await stream(selection, streamRequest, channel, end)
    let isLast = request.headers[.connection] == "close"
    return Response(
      status: .ok,
      headers: [
        .contentType: "text/event-stream; charset=utf-8",
        .cacheControl: "no-store",
        .accelBuffering: "no",
      ],
      body: ResponseBody { _ in
        try await channel.eventLoop.submit {
          try channel.pipeline.syncOperations.addHandler(stream.value, position: .first)
        }.get()
        // The server closes this connection when the body returns.
        if isLast { try await channel.closeFuture.get() }
      })
  }

  /// Subscribes a stream to its topics, on the event loop of `channel`.
  private func stream(
    _ selection: TopicSelection, _ streamRequest: StreamRequest, _ channel: any Channel,
    _ end: NIODeadline?
  ) async throws(RequestError) -> NIOLoopBound<EventStream> {
    let loop = loops[channel.eventLoop]
    do {
      return try await channel.eventLoop.submit {
        let stream = EventStream(
          loop.value, retryMilliseconds: settings.retry.nanoseconds / 1_000_000,
          closesWhenStalled: streamRequest.policy == .disconnect, end: end)
        let bound = NIOLoopBound(stream, eventLoop: channel.eventLoop)
        try stream.subscribe(
          to: selection, of: topics, after: streamRequest.after, streamRequest.policy)
        return bound
      }.get()
    } catch {
      throw .unavailable(error as? Unavailable ?? Unavailable("the server is shutting down"))
    }
  }
}
