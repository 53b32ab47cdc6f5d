internal import Multicast
internal import NIOCore

/// One subscriber's stream: takes the events of its feed and writes them to its connection.
///
/// Its task runs on the event loop of the connection, so that what it writes needs no further hop.
struct EventStream: Sendable {
  let channel: any Channel
  /// That of the event loop of `channel`.
  let lane: NIOLoopBound<Lane>
  let board: Board
  let log: any EventLog
  let retryMilliseconds: Int64
}

extension EventStream {
  /// Writes what `feed` has until it ends, or the client goes away.
  ///
  /// The head of the response has been written already.
  ///
  /// - Throws: if the client has gone.
  func serve(_ feed: Feed) async throws {
    let task = try await channel.eventLoop.submit { try start(feed) }.get()
    let isOpen = await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
    guard isOpen, !Task.isCancelled else { throw ChannelError.ioOnClosedChannel }
  }

  /// Starts on the event loop.
  ///
  /// The stream has a task of its own, because a subscription ends with the task that reads it, and
  /// the task that answers the request must live to see the end of the response.
  ///
  /// - Returns: the task; its value is whether the client is still there.
  private func start(_ feed: Feed) throws -> Task<Bool, Never> {
    let output = StreamOutput(lane.value)
    try channel.pipeline.syncOperations.addHandler(output, position: .first)
    let bound = NIOLoopBound(output, eventLoop: channel.eventLoop)
    let task = Task(executorPreference: lane.value.executor) { await run(feed, bound) }
    output.whenLost = { task.cancel() }
    return task
  }

  @concurrent private func run(_ feed: Feed, _ bound: NIOLoopBound<StreamOutput>) async -> Bool {
    let output = bound.value
    output.write(Frame.retry(milliseconds: retryMilliseconds))
    await replay(feed, to: output)
    for await element in feed.live.notingLosses() {
      switch element {
      case .event(let event): output.write(event)
      case .missed(let count): output.write(Frame.missed(count))
      }
      if !output.isReady { await output.ready() }
    }
    guard output.isOpen, !Task.isCancelled else { return false }
    if await board.isClosed {
      output.write(Frame.retry(milliseconds: retryMilliseconds))
    } else {
      output.write(Frame.disconnected)
    }
    await output.drained()
    guard output.isOpen, !Task.isCancelled else { return false }
    // Removing it looks like a loss.
    output.whenLost = nil
    try? await channel.pipeline.syncOperations.removeHandler(output).get()
    return true
  }

  private func replay(_ feed: Feed, to output: StreamOutput) async {
    if let gap = feed.gap {
      let events = await log.events(of: feed.seat.topic, after: gap.after, through: gap.through)
      if let events {
        await write(events, to: output)
      } else {
        output.write(Frame.missedHistory(after: gap.after, through: gap.through))
      }
    }
    await write(feed.replay, to: output)
  }

  private func write(_ events: [Event], to output: StreamOutput) async {
    for event in events {
      output.write(event)
      if !output.isReady { await output.ready() }
      guard output.isOpen else { return }
    }
  }
}
