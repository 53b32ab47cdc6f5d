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
  private var isReceiving = false
  private var closing = Closing()
  private var isStream = false
  /// Whether it closes behind the responses to what was received.
  private var isQuiescing = false
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

  /// The server waits until the client closes.
  func requestIsRefused() {
    isReceiving = true
    start = .now()
  }

  /// The end of a response is written.
  func responseEnds() {
    pendingRequests -= 1
    start = .now()
    guard isQuiescing, let channel else { return }
    // Later, because the rest of what was received may have more requests. Checks that this is the
    // event loop: so the closure need not be Sendable.
    channel.eventLoop.assumeIsolated().execute { self.closeIfQuiescing() }
  }

  /// The response is a stream.
  func streamBegins() { isStream = true }

  /// Closes the connection, unless it is a stream, when the responses to what was received are
  /// written.
  func quiesce() {
    guard !isStream else { return }
    isQuiescing = true
    closeIfQuiescing()
  }

  private func closeIfQuiescing() {
    if isQuiescing, pendingRequests == 0 { close() }
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
