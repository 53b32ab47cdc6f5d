internal import Multicast
internal import NIOCore

/// One subscriber's stream: takes the events of its feed and writes them to its connection.
///
/// An actor on the event loop of the connection. Waking it for an event is a job on that loop, and
/// what it writes needs no further hop.
actor EventStream {
  private let channel: any Channel
  private let executor: any SerialExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
  private let lane: NIOLoopBound<Lane>
  private let log: any EventLog
  private let board: Board
  private let retryMilliseconds: Int64

  /// - Parameter lane: that of the event loop of `channel`.
  init(
    on channel: any Channel, _ lane: NIOLoopBound<Lane>, board: Board, log: any EventLog,
    retryMilliseconds: Int64
  ) {
    self.channel = channel
    self.lane = lane
    self.board = board
    self.log = log
    self.retryMilliseconds = retryMilliseconds
    executor = channel.eventLoop.executor
  }
}

extension EventStream {
  /// Writes what `feed` has until it ends, or the client goes away.
  ///
  /// The head of the response has been written already.
  ///
  /// - Throws: if the client has gone.
  func serve(_ feed: Feed) async throws {
    let output = StreamOutput(lane.value)
    try channel.pipeline.syncOperations.addHandler(output, position: .first)
    // A task of its own, because a subscription ends with the task that reads it, and the task that
    // answers the request must live to see the end of the response.
    let pump = Task { await run(feed, output) }
    output.whenLost = { pump.cancel() }
    await withTaskCancellationHandler {
      await pump.value
    } onCancel: {
      pump.cancel()
    }
    guard output.isOpen, !Task.isCancelled else { throw ChannelError.ioOnClosedChannel }
    try await channel.pipeline.syncOperations.removeHandler(output).get()
  }

  private func run(_ feed: Feed, _ output: StreamOutput) async {
    output.write(Frame.retry(milliseconds: retryMilliseconds))
    await replay(feed, to: output)
    for await element in feed.live.notingLosses() {
      switch element {
      case .event(let event):
        output.write(event.frame)
        output.lane.countEvent()
      case .missed(let count):
        output.write(Frame.missed(count))
      }
      if !output.isReady { await output.ready() }
    }
    guard output.isOpen, !Task.isCancelled else { return }
    if await board.isClosed {
      output.write(Frame.retry(milliseconds: retryMilliseconds))
    } else {
      output.write(Frame.disconnected)
    }
    await output.drained()
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
      output.write(event.frame)
      output.lane.countEvent()
      if !output.isReady { await output.ready() }
      guard output.isOpen else { return }
    }
  }
}
