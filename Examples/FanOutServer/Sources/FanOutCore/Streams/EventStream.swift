internal import Multicast
internal import NIOCore

/// One subscriber's stream: writes its events to its connection.
///
/// It has no task: whenever there is something to read, or the socket takes more, the loop calls
/// ``writePending(_:)``, or its ``StreamGroup`` ``write(_:)``.
///
/// It is the handler next to the socket, or to the encryption, after the HTTP encoder, because a
/// ``Frame`` already contains its chunk. So a write only gives a shared buffer to the socket, or
/// adds it to the pending writes of the channel. On HTTP/2 it is behind ``HTTP2Data``.
///
/// Not thread-safe: it belongs to the event loop of the connection.
final class EventStream: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  let loop: ConnectionLoop
  /// Whether the connection is encrypted. HTTP/2 always is.
  private let isEncrypted: Bool
  private let retryMilliseconds: Int64
  /// Whether to disconnect a client that reads nothing.
  private let closesWhenStalled: Bool
  /// Whether it begins with an event.
  private let hasBeginning: Bool
  /// Its place among those of the client's token and address, until its end is written; `nil`
  /// without a limit.
  private var place: StreamPlace?
  /// When the token of the client expires; `nil`: never.
  private let end: NIODeadline?
  private var expiration: Scheduled<Void>?
  /// What it writes. Set before the stream is added to the pipeline, `nil` when it has ended.
  private(set) var source: StreamSource?
  /// Whether the channel takes more: false while the pending writes exceed its limit.
  private var isWritable = true
  /// Tells the loop that there is something to read.
  private(set) lazy var signal = TurnSignal(self, loop.ready)
  /// Whether frames keep their chunk. False for HTTP/1.0 and HTTP/2.
  var isChunked = true
  /// Bytes that were written, with those of chunks.
  private(set) var bytes = 0
  /// The index in the list of the loop.
  var listIndex: Int?
  /// The index in its group.
  var groupIndex: Int?
  /// The turn of the last write.
  private(set) var lastTurn = 0
  /// The tick of the last write.
  private var lastTick = 0
  /// The tick at which the client has last taken something, on HTTP/2, or if the system does not
  /// tell it.
  private var lastProgress = 0
  /// The bytes that waited for the socket at the last poll, if the system does not tell more.
  private var waitingBytes: Int?
  /// The tick of the last poll of the connection.
  private var lastPoll = 0
  private var acknowledgements = AcknowledgementMonitor()
  private var closing = Closing()
  private var context: ChannelHandlerContext?
  private let writer = StreamWriter()
  private var isLost = false
  /// Whether the last frame has been written.
  private var isEnding = false

  init(
    _ loop: ConnectionLoop, isEncrypted: Bool, retryMilliseconds: Int64, closesWhenStalled: Bool,
    hasBeginning: Bool = false, place: StreamPlace? = nil, end: NIODeadline? = nil
  ) {
    self.hasBeginning = hasBeginning
    self.place = place
    self.end = end
    self.loop = loop
    self.isEncrypted = isEncrypted
    self.retryMilliseconds = retryMilliseconds
    self.closesWhenStalled = closesWhenStalled
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    if !isEncrypted { writer.useSocket(of: context.channel) }
    lastTick = loop.tick
    lastPoll = loop.tick
    lastProgress = loop.tick
    isWritable = context.channel.isWritable
    loop.add(self)
    expiration = end.map { end in
      // Checks that this is the event loop: so the closure need not be Sendable.
      context.eventLoop.assumeIsolated().scheduleTask(deadline: end) { self.expire() }
    }
    context.fireUserInboundEventTriggered(Connection.StreamBegins(stream: self))
    writeBeginning(source?.newest)
    writePending()
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    loop.remove(self)
    self.context = nil
    connectionLost()
  }

  /// Closes the connection: a client with a stream must not send anything, because a response would
  /// be inside of the stream.
  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    closeConnection()
  }

  /// Closes the connection: this is not a write of the stream, but the response to a request that
  /// was read before the stream began.
  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    promise?.fail(ChannelError.ioOnClosedChannel)
    closeConnection()
  }

  func channelInactive(context: ChannelHandlerContext) {
    context.fireChannelInactive()
    connectionLost()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    context.fireUserInboundEventTriggered(event)
    // Treats half-closure as the end: a client that closes its side gets no more events.
    if case ChannelEvent.inputClosed = event { closeConnection() }
    if event is HTTP2Data.Progress { lastProgress = loop.tick }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    context.fireChannelWritabilityChanged()
    isWritable = context.channel.isWritable
    // To a member of a group, the group writes.
    if isWritable, source?.reader != nil { signal.send() }
  }
}

// MARK: - Reading

extension EventStream {
  /// Subscribes to topics.
  ///
  /// - Parameter id: the last event that the client has; `nil` if it has none.
  func subscribe(
    to selection: TopicSelection, of topics: Topics, after id: EventID?, _ policy: StreamPolicy
  ) throws(Unavailable) {
    let subscription = try topics.subscribe(
      to: selection, after: id, policy, whenReadable: signal.send)
    source = StreamSource(
      topics: topics, selection: selection, policy: policy, newest: subscription.newest,
      lacksID: id == nil && subscription.newest == nil, reader: subscription.reader)
  }

  /// Writes the events of its own reader, as many as the channel takes, and flushes them.
  ///
  /// - Returns: the number of bytes.
  @discardableResult
  private func writePending() -> Int {
    lastTurn = loop.turnNumber
    let before = bytes
    var events = 0
    guard let reader = source?.reader, let namesTopics = source?.namesTopics else { return 0 }
    while isWritable, !isLost, !isEnding {
      guard let element = reader.nextIfAvailable() else {
        if let end = reader.end {
          writeEnd(end)
        } else if let position = reader.position {
          if source?.lacksID == true { writeBeginning(position.number) }
          source?.lacksID = false
          joinGroup(at: position)
        }
        break
      }
      switch element {
      case .event(let element, at: _):
        let event = element.event
        write(namesTopics ? loop.topicFrames.frame(of: event) : event.frame)
        events += 1
      case .missed(let range, of: let topic):
        write(Frame.missed(range, of: namesTopics ? topic : nil))
      }
    }
    flush()
    loop.count(events: events, writes: 1)
    return bytes - before
  }

  /// Joins the group of its topic, if that reads everything that comes after `position`.
  private func joinGroup(at position: EventPosition) {
    guard let source, let topic = source.sharedTopic,
      let group = loop.group(of: topic, source.topics, after: position)
    else { return }
    self.source?.position = position
    self.source?.group = group
    group.add(self)
  }

  /// Ends its own reader. For the group that it joins.
  func discardReader() {
    // Here, because it may be in use.
    source?.reader?.cancel()
    source?.reader = nil
  }

  /// Gets a reader of its own, from where it is. For the group that it leaves.
  func beginReading(_ topic: Topic) {
    guard let source, let position = source.position else { return }
    self.source?.reader = source.topics.reader(
      of: topic, continuingAfter: position, source.policy, whenReadable: signal.send)
  }

  /// Leaves its group, to read for itself.
  private func leaveGroup() {
    guard let group = source?.group else { return }
    source?.group = nil
    group.remove(self, continues: true)
    // Otherwise the channel tells when it takes more.
    if isWritable { signal.send() }
  }

  /// Writes what its group has read and the client does not have, and flushes it. Then leaves the
  /// group if the channel does not take more.
  ///
  /// - Returns: the number of events, and of bytes.
  func write(_ batch: StreamGroup.Batch) -> (events: Int, bytes: Int) {
    guard var position = source?.position else { return (0, 0) }
    let before = bytes
    var events = 0
    var mustLeave = false
    if isChunked, let frames = batch.frames(after: position) {
      write(frames, of: batch.elements)
      position = batch.end ?? position
      events = batch.elements.count
    } else {
      for element in batch.elements where element.position > position {
        // A range that begins before the position is not what this client misses.
        mustLeave = element.start.map { $0 < position } ?? false
        if mustLeave { break }
        write(element.frame)
        position = element.position
        if element.start == nil { events += 1 }
      }
    }
    source?.position = position
    flush()
    if mustLeave || !isWritable { leaveGroup() }
    return (events, bytes - before)
  }

  /// Writes the end, as its group has found it.
  func finish(_ end: SubscriptionEnd) {
    writeEnd(end)
    flush()
  }

  /// Ends the subscription.
  private func unsubscribe() {
    let group = source?.group
    source?.reader?.cancel()
    source = nil
    group?.remove(self, continues: false)
  }
}

extension EventStream: TurnMember {
  func writePending(_ budget: inout TurnBudget) -> Bool {
    budget.bytes -= writePending()
    budget.streams -= 1
    return true
  }
}

// MARK: - Writing

extension EventStream {
  /// - Parameter id: that of the last event that the client has, or does not get; `nil` if the
  ///   client has an id of its own, or if that is not known yet.
  private func writeBeginning(_ id: EventID?) {
    write(Frame.retry(milliseconds: retryMilliseconds, id: id, isEvent: hasBeginning))
  }

  private func write(_ frame: ByteBuffer) {
    guard !isLost, let context else { return }
    lastTick = loop.tick
    let bytes = isChunked ? frame : Frame.payload(of: frame)
    self.bytes += bytes.readableBytes
    writer.write(bytes, context)
  }

  /// Writes the frames of `elements`, which `frames` has too. For a stream with chunks.
  private func write(_ frames: ByteBuffer, of elements: [StreamGroup.Element]) {
    guard !isLost, let context else { return }
    lastTick = loop.tick
    bytes += frames.readableBytes
    writer.write(frames, of: elements.lazy.map(\.frame), context)
  }

  private func flush() {
    if let context { writer.flush(context) }
  }

  /// Ends the response, and closes the connection when all writes have reached the socket.
  private func writeEnd(_ end: SubscriptionEnd) {
    unsubscribe()
    isEnding = true
    // The client may not read the end for long.
    place = nil
    write(
      end == .finished ? Frame.retry(milliseconds: retryMilliseconds) : Frame.disconnected)
    if isChunked { write(Frame.end) }
    guard let context else { return }
    // Writes complete in order: after this empty one, all earlier ones are complete. It ends a
    // stream of HTTP/2.
    let done = context.eventLoop.makePromise(of: Void.self)
    writer.write(ByteBuffer(), context, done)
    // Checked, as in `handlerAdded`.
    done.futureResult.assumeIsolated().whenComplete { _ in self.closeConnection() }
  }

  /// Ends the stream after the events that it has, if it waits for events of the log: the server
  /// shuts down, and the client continues with another one.
  func endIfWaiting() {
    writePending()
    guard isWritable, !isLost, !isEnding, let reader = source?.reader, reader.end == nil,
      reader.position == nil
    else { return }
    writeEnd(.finished)
    flush()
  }

  /// Ends the stream, so that the client continues it with a new token.
  private func expire() {
    guard !isLost, source != nil else { return }
    writeEnd(.finished)
    flush()
  }

  /// Writes a heartbeat if the stream is idle. Closes the connection if nothing was acknowledged
  /// for a whole interval, or if the client reads nothing and the stream ends or
  /// `closesWhenStalled`. Call it at each tick.
  ///
  /// - Returns: whether it wrote a heartbeat.
  func handleTick() -> Bool {
    let isQuiet = !isEnding && loop.tick - lastTick >= ConnectionLoop.ticksPerInterval && isWritable
    guard isQuiet || loop.tick - lastPoll >= ConnectionLoop.ticksPerInterval else { return false }
    pollConnection()
    guard isQuiet, !isLost else { return false }
    write(Frame.heartbeat)
    flush()
    // On HTTP/2 the heartbeat may have to wait for the client.
    if let context, context.channel.socket === context.channel {
      acknowledgements.expect(loop.tick)
    }
    return true
  }

  private func pollConnection() {
    guard !isLost, let context else { return }
    lastPoll = loop.tick
    let socket = context.channel.socket
    let ticks = acknowledgements.poll(socket, loop.tick)
    if ticks >= ConnectionLoop.ticksPerInterval { return socket.close(promise: nil) }
    guard isEnding || closesWhenStalled && !isWritable else { return }
    if isStalled(context.channel) { closeConnection() }
  }

  /// Whether the client has taken nothing for two intervals. Call it at each poll at which there is
  /// something to take.
  private func isStalled(_ channel: any Channel) -> Bool {
    // Other streams of HTTP/2 send on the same socket.
    if channel.socket === channel {
      if let time = acknowledgements.sinceSending { return time >= loop.heartbeat * 2 }
      let bytes = try? channel.syncOptions?.getOption(.bufferedWritableBytes)
      if bytes != waitingBytes { lastProgress = loop.tick }
      waitingBytes = bytes
    }
    return loop.tick - max(lastTick, lastProgress) >= ConnectionLoop.ticksPerInterval * 2
  }

  func closeConnection() {
    if let context { closing.target(context.channel).close(promise: nil) }
  }

  private func connectionLost() {
    guard !isLost else { return }
    isLost = true
    expiration?.cancel()
    expiration = nil
    place = nil
    unsubscribe()
  }
}
