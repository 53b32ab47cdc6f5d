internal import NIOCore

/// Tracks the requests of a connection of HTTP/1, or of a stream of HTTP/2, so that clients that
/// stop sending or reading time out, and closes a connection behind its last response when the
/// server shuts down.
///
/// It knows how long a request has been in progress, or when the last one ended, and whether the
/// server waits for the client: to send a request or the rest of one, or to read the response.
/// ``ConnectionLoop`` polls that periodically, so that connections need no timers. The handler that
/// passes the requests on tells it of them.
///
/// Not thread-safe: it belongs to the event loop of the connection.
final class Connection {
  /// Sent through the pipeline when a stream begins: a response without a time limit.
  struct StreamBegins {
    let stream: EventStream
  }

  private let loop: ConnectionLoop
  /// The index in the list of the loop.
  var listIndex: Int?
  /// `nil` before it begins, and after its end.
  private var channel: (any Channel)?
  /// Requests whose response is not complete.
  private var pendingRequests = 0
  /// Completes when the newest complete response has reached the socket; `nil` if nothing waits for
  /// that.
  private var written: EventLoopFuture<Void>?
  /// Whether a response was complete.
  private var hasAnswered = false
  private var isReceiving = false
  private var closing = Closing()
  private var isStream = false
  /// Whether it closes behind the responses to what was received.
  private(set) var isQuiescing = false
  /// Whether the server's side is closed, behind the last response.
  private var isOutputClosed = false
  /// When the oldest request began, or when the response before it was complete.
  private var start = NIODeadline.now()

  init(_ loop: ConnectionLoop) {
    self.loop = loop
  }
}

extension Connection {
  func begin(_ channel: any Channel) {
    self.channel = channel
    loop.add(self)
  }

  func end() {
    loop.remove(self)
    channel = nil
  }

  func requestBegins() {
    if pendingRequests == 0, !isReceiving { start = .now() }
    pendingRequests += 1
    isReceiving = true
  }

  func requestIsReceived() {
    isReceiving = false
    if pendingRequests == 0 { start = .now() }
  }

  /// A refusal is complete. The server waits until the client closes.
  ///
  /// - Parameter written: as for ``responseEnds(_:)``.
  func requestIsRefused(_ written: EventLoopFuture<Void>?) {
    isReceiving = true
    start = .now()
    self.written = written
    if isQuiescing { closeBehindResponses() }
  }

  /// A response is complete.
  ///
  /// - Parameter written: completes when it has reached the socket; `nil` if the connection is not
  ///   closed behind it.
  func responseEnds(_ written: EventLoopFuture<Void>?) {
    pendingRequests -= 1
    hasAnswered = true
    start = .now()
    self.written = written
    if isQuiescing { closeBehindResponses() }
  }

  /// The response is a stream.
  func streamBegins() { isStream = true }

  /// Closes the connection, unless it is a stream, when the responses to what was received have
  /// reached the socket.
  func quiesce() {
    guard !isStream else { return }
    isQuiescing = true
    closeBehindResponses()
  }

  private func closeBehindResponses() {
    guard pendingRequests == 0, !isOutputClosed, let channel else { return }
    guard let written else { return closeInStages(channel) }
    self.written = nil
    // Checks that this is the event loop: so the closures need not be Sendable.
    written.assumeIsolated().whenComplete { _ in
      // Later, because the rest of what was received may have more requests.
      channel.eventLoop.assumeIsolated().execute { self.closeBehindResponses() }
    }
  }

  /// Closes the server's side, and the connection when the client has sent nothing for a while
  /// (RFC 9112, section 9.6).
  private func closeInStages(_ channel: any Channel) {
    // A client that has had no response cannot lose one.
    guard hasAnswered, let input = channel.pipeline.syncOperations.discardInput() else {
      return close()
    }
    isOutputClosed = true
    channel.close(mode: .output, promise: nil)
    closeWhenQuiet(input)
  }

  private func closeWhenQuiet(_ input: DiscardedInput) {
    guard let channel else { return }
    let reads = input.reads
    // Checks that this is the event loop: so the closure need not be Sendable.
    channel.eventLoop.assumeIsolated().scheduleTask(in: loop.quietTime) {
      if input.reads == reads { self.close() } else { self.closeWhenQuiet(input) }
    }
  }

  /// Closes the connection if the server has waited for the client since `deadline` or longer.
  func closeIfTimedOut(since deadline: NIODeadline) {
    guard !isStream, start <= deadline, let channel else { return }
    // Otherwise the client waits for the server.
    if isReceiving || pendingRequests == 0 || !channel.isWritable { close() }
  }

  func close() {
    if let channel { closing.target(channel).close(promise: nil) }
  }
}
