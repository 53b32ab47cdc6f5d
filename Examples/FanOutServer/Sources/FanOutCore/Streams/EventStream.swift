internal import Multicast
internal import NIOCore

/// One subscriber's stream: takes the events of its feed and writes them to its connection.
///
/// Its task runs on the event loop of the connection, so that what it writes needs no further hop.
struct EventStream: Sendable {
  let channel: any Channel
  /// That of the event loop of `channel`.
  let lane: NIOLoopBound<Lane>
  let log: any EventLog
  let retryMilliseconds: Int64
}

extension EventStream {
  /// Begins to write what `feed` has, until it ends or the client goes away. Then the connection is
  /// closed.
  ///
  /// The head of the response has been written already, and nothing else writes to the connection
  /// from now on. The stream has a task of its own. The one that answers the request can go back to
  /// where it waits for the next one, which a client with a stream does not send: a task that waits
  /// deep inside of an answer takes several kilobytes more.
  ///
  /// - Returns: the task of the stream.
  func start(_ feed: Feed) async throws -> Task<Void, Never> {
    try await channel.eventLoop.submit {
      let output = StreamOutput(lane.value)
      try channel.pipeline.syncOperations.addHandler(output, position: .first)
      let bound = NIOLoopBound(output, eventLoop: channel.eventLoop)
      let task = Task.detached(executorPreference: lane.value.executor) {
        await run(feed, bound)
      }
      output.whenLost = { task.cancel() }
      return task
    }.get()
  }

  @concurrent private func run(_ feed: Feed, _ bound: NIOLoopBound<StreamOutput>) async {
    let output = bound.value
    output.write(Frame.retry(milliseconds: retryMilliseconds, id: feed.newest))
    await replay(feed, to: output)
    var entries = feed.live.notingLosses().makeAsyncIterator()
    while let element = await entries.next() {
      switch element {
      case .event(.event(let event)): if !feed.isKnown(event) { output.write(event) }
      case .event(.gap(let gap)): feed.missing(gap).map { output.write(Frame.missed($0)) }
      case .event(.start(let id)): await fill(feed.missing(before: id), of: feed, to: output)
      case .missed(let count): output.write(Frame.missed(count))
      }
      if !output.isReady { await output.ready() }
    }
    guard output.isOpen, !Task.isCancelled else { return }
    // The board is not asked: its turn would come on this lane, and everybody would wait for it.
    if entries.end == .finished {
      output.write(Frame.retry(milliseconds: retryMilliseconds))
    } else {
      output.write(Frame.disconnected)
    }
    output.write(Frame.end)
    await output.drained()
    output.closeConnection()
  }

  private func replay(_ feed: Feed, to output: StreamOutput) async {
    await fill(feed.gap, of: feed, to: output)
    await write(feed.takeReplay(), to: output)
  }

  /// Writes the events of `gap`, or that they are missing.
  private func fill(_ gap: Gap?, of feed: Feed, to output: StreamOutput) async {
    guard let gap else { return }
    let events = await log.events(of: feed.seat.topic, after: gap.after, through: gap.through)
    if let events {
      await write(events, to: output)
    } else {
      output.write(Frame.missed(gap))
    }
  }

  private func write(_ events: [Event], to output: StreamOutput) async {
    for event in events {
      output.write(event)
      if !output.isReady { await output.ready() }
      guard output.isOpen else { return }
    }
  }
}
