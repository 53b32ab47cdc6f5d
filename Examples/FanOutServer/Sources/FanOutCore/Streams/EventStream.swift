internal import Multicast
internal import NIOCore

/// One subscriber's stream: writes its events to its connection.
///
/// Its task runs on the event loop of the connection, so that writes need no thread switch.
struct EventStream: Sendable {
  let channel: any Channel
  /// The one of the event loop of `channel`.
  let loop: NIOLoopBound<ConnectionLoop>
  let retryMilliseconds: Int64
  /// Whether to disconnect a client that reads nothing.
  let closesWhenStalled: Bool
}

extension EventStream {
  /// Starts to write the events of `subscription`, until it ends or the client disconnects. Then closes the connection.
  ///
  /// The head of the response has been written, and nothing else writes to the connection from now
  /// on. The stream has its own task, so that the task of the request can return to its shallowest
  /// stack: a task that waits deep inside of a response takes several kilobytes more.
  ///
  /// - Returns: the task of the stream.
  func start(_ subscription: TopicSubscription) async throws -> Task<Void, Never> {
    try await channel.eventLoop.submit {
      let output = StreamOutput(loop.value, closesWhenStalled: closesWhenStalled)
      try channel.pipeline.syncOperations.addHandler(output, position: .first)
      let bound = NIOLoopBound(output, eventLoop: channel.eventLoop)
      let task = Task.detached(executorPreference: loop.value.executor) {
        await run(subscription, bound)
      }
      output.whenLost = { task.cancel() }
      return task
    }.get()
  }

  @concurrent private func run(
    _ subscription: TopicSubscription, _ bound: NIOLoopBound<StreamOutput>
  ) async {
    let output = bound.value
    output.write(Frame.retry(milliseconds: retryMilliseconds, id: subscription.newest))
    var elements = subscription.events.makeAsyncIterator()
    while let element = await elements.next() {
      switch element {
      case .event(let event, at: _): output.write(event.event)
      case .missed(let range, of: _): output.write(Frame.missed(range))
      }
      if !output.isReady { await output.ready() }
    }
    guard output.isOpen, !Task.isCancelled else { return }
    if elements.end == .finished {
      output.write(Frame.retry(milliseconds: retryMilliseconds))
    } else {
      output.write(Frame.disconnected)
    }
    output.write(Frame.end)
    await output.drained()
    output.closeConnection()
  }
}

extension Frame {
  /// A notice of missed events: those that a slow client did not read in time are counted.
  fileprivate static func missed(_ range: MissedEvents) -> ByteBuffer {
    range.count.map { missed($0) }
      ?? missed(after: range.after.number, through: range.through.number)
  }
}
