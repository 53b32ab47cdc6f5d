internal import Multicast
internal import NIOCore

/// One subscriber's stream: writes the events of its feed to its connection.
///
/// Its task runs on the event loop of the connection, so that writes need no thread switch.
struct EventStream: Sendable {
  /// Limit of the events that are fetched for one gap.
  private static let fetchLimit = 10_000

  let channel: any Channel
  /// The one of the event loop of `channel`.
  let loop: NIOLoopBound<ConnectionLoop>
  let log: any EventLog
  let retryMilliseconds: Int64
  /// Whether to disconnect a client that reads nothing.
  let closesWhenStalled: Bool
}

extension EventStream {
  /// Starts to write `feed`, until it ends or the client disconnects. Then closes the connection.
  ///
  /// The head of the response has been written, and nothing else writes to the connection from now
  /// on. The stream has its own task, so that the task of the request can return to its shallowest
  /// stack: a task that waits deep inside of a response takes several kilobytes more.
  ///
  /// - Returns: the task of the stream.
  func start(_ feed: Feed) async throws -> Task<Void, Never> {
    try await channel.eventLoop.submit {
      let output = StreamOutput(loop.value, closesWhenStalled: closesWhenStalled)
      try channel.pipeline.syncOperations.addHandler(output, position: .first)
      let bound = NIOLoopBound(output, eventLoop: channel.eventLoop)
      let task = Task.detached(executorPreference: loop.value.executor) {
        await run(feed, bound)
      }
      output.whenLost = { task.cancel() }
      return task
    }.get()
  }

  @concurrent private func run(_ feed: Feed, _ bound: NIOLoopBound<StreamOutput>) async {
    let output = bound.value
    output.write(Frame.retry(milliseconds: retryMilliseconds, id: feed.newest))
    var place = await begin(feed, output)
    var dropped = 0
    var entries = feed.live.notingDrops().makeAsyncIterator()
    while let element = await entries.next() {
      switch element {
      case .dropped(let count): dropped = count
      case .event(let entry):
        if dropped > 0 || place.turn !== entry.turn {
          await catchUp(&place, with: entry, dropped, of: feed.topicReference.topic, output)
          dropped = 0
        }
        if let event = entry.event, !place.has(event) { output.write(event) }
      }
      if !output.isReady { await output.ready() }
    }
    guard output.isOpen, !Task.isCancelled else { return }
    // Does not ask the board: the actor would run the call on this task's executor, and would block
    // all other calls until the next batch.
    if entries.end == .finished {
      output.write(Frame.retry(milliseconds: retryMilliseconds))
    } else {
      output.write(Frame.disconnected)
    }
    output.write(Frame.end)
    await output.drained()
    output.closeConnection()
  }

  // A task keeps the memory of `run` while the stream is idle. The following functions are not
  // inlined, so that their memory is not part of it.

  /// Writes the events that the client missed before it subscribed.
  ///
  /// - Returns: the place of the client afterwards.
  @inline(never)
  private func begin(_ feed: Feed, _ output: StreamOutput) async -> Place {
    let start = feed.takeStart()
    if let gap = start.gap { await fill(gap, of: feed.topicReference.topic, output) }
    await write(start.replay, to: output)
    return start.place
  }

  /// Writes the gaps before `entry`.
  ///
  /// - Parameter dropped: the number of entries that were dropped just before it.
  @inline(never)
  private func catchUp(
    _ place: inout Place, with entry: Entry, _ dropped: Int, of topic: Topic, _ output: StreamOutput
  ) async {
    let (entries, missing) = place.advance(to: entry.turn)
    // Entries without an event do not count, and this entry was not dropped.
    let droppedEvents = dropped - (entry.event == nil ? entries - 1 : entries)
    // A client that has this event has the events before it too.
    let hasThem = missing.isEmpty && entry.event.map(place.has) == true
    if droppedEvents > 0, !hasThem { output.write(Frame.missed(droppedEvents)) }
    for gap in missing {
      switch gap {
      case .gone(let gap): output.write(Frame.missed(gap))
      case .unknown(let gap): await fill(gap, of: topic, output)
      }
    }
  }

  /// Writes the events of `gap`, page by page, or a notice that they are missing.
  @inline(never)
  private func fill(_ gap: Gap, of topic: Topic, _ output: StreamOutput) async {
    var rest = gap
    var count = 0
    repeat {
      guard count < Self.fetchLimit,
        let page = await log.page(of: topic, after: rest.after, through: rest.through)
      else { return output.write(Frame.missed(rest)) }
      await write(page.events, to: output)
      count += page.events.count
      rest.after = page.through
    } while rest.after < rest.through && output.isOpen
  }

  private func write(_ events: [Event], to output: StreamOutput) async {
    for event in events {
      output.write(event)
      if !output.isReady { await output.ready() }
      guard output.isOpen else { return }
    }
  }
}
