internal import NIOCore

/// The connection that publishes: one event at a time, each after the response to the one before.
final class Publisher: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// The result of one schedule.
  struct Outcome: Sendable {
    var published = 0
    var firstSend: UInt64 = 0
    /// The maximum delay of a publication after its due time, in nanoseconds.
    var latest: UInt64 = 0
    /// Whether the schedule ended because of the time limit.
    var isStalled = false

    mutating func add(sentAt time: UInt64, lateBy delay: UInt64) {
      if published == 0 { firstSend = time }
      published += 1
      latest = max(latest, delay)
    }
  }

  private struct Part {
    var schedule: Schedule
    var start: UInt64
    var first: Int
    var outcome = Outcome()
    var promise: EventLoopPromise<Outcome>
  }

  private let requestHead: String
  private let payloadSize: Int
  private let patience: TimeAmount

  private var response = ResponseScanner()
  private var context: ChannelHandlerContext?
  private var part: Part?
  private var published = 0
  private var isWaitingForAnswer = false
  /// The number of events that all streams of a loop have, by loop.
  private var completed: [Int]
  private var lastProgress: UInt64 = 0
  private var timer: Scheduled<Void>?
  private var watch: Scheduled<Void>?

  /// - Parameters:
  ///   - loops: the number of event loops with streams.
  ///   - patience: a schedule ends after this time without progress.
  init(host: String, path: String, payloadSize: Int, loops: Int, patience: TimeAmount) {
    requestHead = """
      POST \(path) HTTP/1.1\r\nHost: \(host)\r\nContent-Type: text/plain\r\n\
      Content-Length: \(payloadSize)\r\n\r\n
      """
    self.payloadSize = payloadSize
    self.patience = patience
    completed = [Int](repeating: 0, count: loops)
  }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    do {
      try unwrapInboundIn(data).withUnsafeReadableBytes { bytes in
        var rest = bytes
        while let part = try response.next(in: &rest) {
          switch part {
          case .head(let status):
            guard (200..<300).contains(status) else {
              throw LoadError("the response to a publication has HTTP status \(status)")
            }
          case .body: break
          case .end:
            isWaitingForAnswer = false
            lastProgress = Clock.now
          }
        }
      }
      advance()
    } catch {
      fail(error)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    fail(LoadError("the server closed the publisher's connection"))
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    fail(error)
  }
}

extension Publisher {
  /// Publishes by `schedule`. The promise succeeds when every stream has every event.
  func publish(_ schedule: Schedule, _ promise: EventLoopPromise<Outcome>) {
    guard context != nil else {
      return promise.fail(LoadError("the publisher's connection is closed"))
    }
    lastProgress = Clock.now
    part = Part(schedule: schedule, start: lastProgress, first: published, promise: promise)
    keepWatch(for: patience)
    advance()
  }

  /// Records that all streams of event loop `loop` have received `count` events.
  func streamsCompleted(_ count: Int, loop: Int) {
    completed[loop] = count
    lastProgress = Clock.now
    advance()
  }

  private func advance() {
    guard let part, !isWaitingForAnswer, let context else { return }
    let now = Clock.now
    let index = published - part.first
    let elapsed = now - part.start
    guard part.schedule.includes(index, elapsed: elapsed) else {
      if inFlight == 0 { finish() }
      return
    }
    let due = part.schedule.due(index)
    guard due <= elapsed else { return wait(until: part.start + due, context) }
    guard part.schedule.window == 0 || inFlight < part.schedule.window else { return }
    send(lateBy: part.schedule.rate == 0 ? 0 : elapsed - due, context)
  }

  private func send(lateBy delay: UInt64, _ context: ChannelHandlerContext) {
    var buffer = context.channel.allocator.buffer(capacity: requestHead.utf8.count + payloadSize)
    buffer.writeString(requestHead)
    let now = Clock.now
    buffer.writeBytes(Payload(sequence: published, sentAt: now).encoded(size: payloadSize))
    part?.outcome.add(sentAt: now, lateBy: delay)
    published += 1
    isWaitingForAnswer = true
    context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
  }

  private func wait(until time: UInt64, _ context: ChannelHandlerContext) {
    guard timer == nil else { return }
    timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: .uptimeNanoseconds(time)) {
      self.timer = nil
      self.advance()
    }
  }

  /// Ends the schedule if events are missing and nothing has arrived for too long.
  private func keepWatch(for time: TimeAmount) {
    watch = context?.eventLoop.assumeIsolated().scheduleTask(in: time) {
      let quiet = TimeAmount.nanoseconds(Int64(Clock.now - self.lastProgress))
      guard quiet >= self.patience, self.isWaitingForAnswer || self.inFlight > 0 else {
        return self.keepWatch(for: quiet < self.patience ? self.patience - quiet : self.patience)
      }
      self.part?.outcome.isStalled = true
      self.finish()
    }
  }

  /// The number of events that some stream does not have yet.
  private var inFlight: Int { published - (completed.min() ?? published) }

  private func finish() {
    let part = part
    self.part = nil
    timer?.cancel()
    timer = nil
    watch?.cancel()
    part.map { $0.promise.succeed($0.outcome) }
  }

  private func fail(_ error: any Error) {
    let part = part
    self.part = nil
    watch?.cancel()
    part?.promise.fail(error)
    context?.close(promise: nil)
  }
}
