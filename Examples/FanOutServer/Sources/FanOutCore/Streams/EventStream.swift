internal import Multicast
internal import NIOCore

/// One subscriber's stream: takes the events of its feed and writes them to its connection.
///
/// Its task runs on the event loop of the connection, so that what it writes needs no further hop.
struct EventStream: Sendable {
  /// How many events are fetched for a client at most.
  private static let fetchLimit = 10_000

  let channel: any Channel
  /// That of the event loop of `channel`.
  let loop: NIOLoopBound<ConnectionLoop>
  let log: any EventLog
  let retryMilliseconds: Int64
  /// Whether a client that takes nothing is to go.
  let closesWhenStalled: Bool
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
    var lost = 0
    var entries = feed.live.notingDrops().makeAsyncIterator()
    while let element = await entries.next() {
      switch element {
      case .dropped(let count): lost = count
      case .event(let entry):
        if lost > 0 || place.turn !== entry.turn {
          await catchUp(&place, with: entry, lost, of: feed.topicReference.topic, output)
          lost = 0
        }
        if let event = entry.event, !place.has(event) { output.write(event) }
      }
      if !output.isReady { await output.ready() }
    }
    guard output.isOpen, !Task.isCancelled else { return }
    // The board is not asked: its answer would come on this loop, and everybody would wait for that.
    if entries.end == .finished {
      output.write(Frame.retry(milliseconds: retryMilliseconds))
    } else {
      output.write(Frame.disconnected)
    }
    output.write(Frame.end)
    await output.drained()
    output.closeConnection()
  }

  // The task keeps the memory of `run` while the stream is quiet. What the following need is not to
  // be part of that.

  /// Writes what the client has missed before it came.
  ///
  /// - Returns: where the client is then.
  @inline(never)
  private func begin(_ feed: Feed, _ output: StreamOutput) async -> Place {
    let start = feed.takeStart()
    if let gap = start.gap { await fill(gap, of: feed.topicReference.topic, output) }
    await write(start.replay, to: output)
    return start.place
  }

  /// Writes what is missing before `entry`.
  ///
  /// - Parameter lost: how many entries the subscriber was too slow for, just before.
  @inline(never)
  private func catchUp(
    _ place: inout Place, with entry: Entry, _ lost: Int, of topic: Topic, _ output: StreamOutput
  ) async {
    let (entries, missing) = place.advance(to: entry.turn)
    // The entry of a turn is among the lost, unless it is this one.
    let lostEvents = lost - (entry.event == nil ? entries - 1 : entries)
    // A client that has this event has those before it as well.
    let hasThem = missing.isEmpty && entry.event.map(place.has) == true
    if lostEvents > 0, !hasThem { output.write(Frame.missed(lostEvents)) }
    for gap in missing {
      switch gap {
      case .gone(let gap): output.write(Frame.missed(gap))
      case .unknown(let gap): await fill(gap, of: topic, output)
      }
    }
  }

  /// Writes the events of `gap`, page by page, or that they are missing.
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
