/// Tells the event loop of a stream that the stream has something to write.
final class StreamSignal: @unchecked Sendable {
  // Sendable: `stream` is set before another thread has the object, and only the event loop reads it.

  private let ready: ReadyStreams
  /// `nil` when the stream is gone.
  private(set) weak var stream: EventStream?

  init(_ stream: EventStream, _ ready: ReadyStreams) {
    self.stream = stream
    self.ready = ready
  }

  /// Any thread may call it.
  func send() { ready.add(self) }
}
