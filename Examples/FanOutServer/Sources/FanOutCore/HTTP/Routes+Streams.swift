internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// A stream that has subscribed to its topics, for the connection on which it will write.
struct OpenStream: Sendable {
  let stream: NIOLoopBound<EventStream>
  /// The head of its response.
  var head = HTTPResponse(
    status: .ok,
    headerFields: [
      .contentType: "text/event-stream; charset=utf-8",
      .cacheControl: "no-store",
      .accelBuffering: "no",
    ])
}

extension Routes {
  /// Opens the stream of one topic, or of several.
  func stream(
    _ route: Route, _ query: Substring?, _ request: IncomingRequest
  ) async throws(RequestError) -> OpenStream {
    var name: Substring?
    if case .subscribe(let topic) = route { name = topic }
    let streamRequest = try StreamRequest(request.headers, query: query, hasTopics: name == nil)
    let (grant, holder) = try await access.check(
      request.headers, query: streamRequest.token, .subscribe)
    let selection: TopicSelection
    if let name {
      selection = .topic(try Topic(name, grant, settings))
    } else {
      selection = try TopicSelection(streamRequest.topics, grant, settings)
      try streamRequest.checkPolicy(for: selection)
    }
    let place = try place(of: holder, client(of: request))
    return try await stream(
      selection, streamRequest, request.channel, place: place, until: grant.end)
  }

  /// A place for a stream; `nil` if it needs none.
  private func place(
    of holder: TokenHolder?, _ address: SocketAddress?
  ) throws(RequestError) -> StreamPlace? {
    do throws(StreamPlaces.Full) {
      return try places.take(holder, NetworkAddress(address))
    } catch {
      let owner =
        switch error {
        case .token: "token"
        case .address: "address"
        }
      throw RequestError(
        .tooManyRequests, "this \(owner) has too many streams", [.retryAfter: "1"])
    }
  }

  /// Subscribes a stream to its topics, on the event loop of `channel`.
  private func stream(
    _ selection: TopicSelection, _ streamRequest: StreamRequest, _ channel: any Channel,
    place: StreamPlace?, until end: NIODeadline?
  ) async throws(RequestError) -> OpenStream {
    let loop = loops[channel.eventLoop]
    do {
      return try await channel.eventLoop.submit { [settings, topics] in
        let stream = EventStream(
          loop.value, isEncrypted: settings.security != nil,
          retryMilliseconds: settings.retry.nanoseconds / 1_000_000,
          closesWhenStalled: streamRequest.policy == .disconnect,
          hasBeginning: streamRequest.hasBeginning, place: place, end: end)
        try stream.subscribe(
          to: selection, of: topics, after: streamRequest.after, streamRequest.policy)
        return OpenStream(stream: NIOLoopBound(stream, eventLoop: channel.eventLoop))
      }.get()
    } catch {
      throw .unavailable(error as? Unavailable ?? Unavailable("the server is shutting down"))
    }
  }
}

extension Response {
  /// The response to a request for `stream` on a connection that Hummingbird has.
  init(_ stream: OpenStream, _ request: Request, _ channel: any Channel) {
    let isLast = request.headers[.connection] == "close"
    self.init(
      status: stream.head.status, headers: stream.head.headerFields,
      body: ResponseBody { _ in
        try await channel.eventLoop.submit {
          try channel.pipeline.syncOperations.add(stream.stream.value)
        }.get()
        // The server closes this connection when the body returns.
        if isLast { try await channel.closeFuture.get() }
      })
  }
}
