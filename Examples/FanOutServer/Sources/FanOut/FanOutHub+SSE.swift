internal import FanOutCore
internal import HTTPTypes
public import Hummingbird
internal import HummingbirdCore
internal import NIOCore
internal import ServiceLifecycle
internal import Synchronization

extension FanOutHub {
  /// The response to a request for the stream of a topic.
  ///
  /// The stream begins after the event that `Last-Event-ID`, or the parameter `lastEventId`, names.
  /// `?policy=` says what happens when the client reads too slowly: `dropOldest`, `latest` or
  /// `disconnect`. It ends when the client closes, when the application shuts down, or at
  /// ``close()``: after what the client has not read yet, for which a shutdown waits at most
  /// ``FanOutHub/Limits/drain``.
  ///
  /// It works with any transport of Hummingbird: HTTP/1.1, HTTP/2, with and without TLS.
  ///
  /// - Parameters:
  ///   - request: a `GET` request.
  ///   - topic: the name of the topic.
  /// - Returns: the response, whose body is the stream. The subscription begins now, so that the
  ///   client misses no event that is published from now on.
  /// - Throws: an `HTTPResponseError` with the reason: 400 for a wrong topic, id or policy, 503
  ///   after ``close()``.
  public func sse(_ request: Request, topic: String) throws -> Response {
    try response { whenReadable in
      try source.subscribe(
        to: topic, request.headers, query: request.uri.query.map { $0[...] },
        whenReadable: whenReadable)
    }
  }

  /// The response to a request for one stream of several topics.
  ///
  /// As ``sse(_:topic:)``, but the data of each event is JSON that names its topic:
  /// `{"topic":"…","data":"…"}`. One `Last-Event-ID` continues all topics. A stream with a pattern
  /// has no other policy than `dropOldest`.
  ///
  /// - Parameters:
  ///   - request: a `GET` request.
  ///   - topics: names, and patterns: `*` stands for one part of a name between dots, and `>` at
  ///     the end for one or more. At most 64.
  /// - Returns: the response, as for one topic.
  /// - Throws: as for one topic; 400 also without a topic.
  public func sse(_ request: Request, topics: [String]) throws -> Response {
    try response { whenReadable in
      try source.subscribe(
        toAll: topics, request.headers, query: request.uri.query.map { $0[...] },
        whenReadable: whenReadable)
    }
  }

  private func response(
    _ subscribe: (_ whenReadable: @escaping @Sendable () -> Void) throws -> sending StreamFrames
  ) throws -> Response {
    // Of several signals that wait, one is sufficient.
    let (signals, signal) = AsyncStream<Signal>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let frames = Handover(try subscribe { signal.yield(.readable) })
    signal.yield(.readable)
    return Response(
      status: .ok,
      headers: [
        .contentType: "text/event-stream; charset=utf-8", .cacheControl: "no-store",
        .accelBuffering: "no",
      ],
      body: ResponseBody { writer in
        let box = WriterBox(writer)
        try await withGracefulShutdownHandler {
          try await self.write(frames, signals, signal, to: box)
        } onGracefulShutdown: {
          self.close()
        }
      })
  }

  /// Why a stream continues.
  private enum Signal {
    case readable
    case heartbeat
  }

  /// Writes `frames`, and heartbeats when there are none. Returns at their end.
  private func write(
    _ frames: Handover<StreamFrames>, _ signals: AsyncStream<Signal>,
    _ signal: AsyncStream<Signal>.Continuation, to box: WriterBox
  ) async throws {
    try await withThrowingTaskGroup { group in
      group.addTask { try await self.write(frames, signals, to: &box.writer) }
      group.addTask { [heartbeat] in
        while true {
          try await Task.sleep(for: heartbeat)
          signal.yield(.heartbeat)
        }
      }
      // The client may not read: then only the cancellation ends the first task.
      group.addTask { [drain] in
        try await gracefulShutdown()
        try await Task.sleep(for: drain)
        throw CancellationError()
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  /// Writes `frames` to the client, with their end.
  @concurrent private func write(
    _ frames: Handover<StreamFrames>, _ signals: AsyncStream<Signal>,
    to writer: inout any ResponseBodyWriter
  ) async throws {
    guard let frames = frames.take() else { return }
    for await signal in signals {
      var isIdle = signal == .heartbeat
      while true {
        // While the client does not read, this waits, and its events wait in the hub.
        let next = frames.read()
        guard !next.isEmpty else { break }
        isIdle = false
        try await writer.write(contentsOf: next)
      }
      if frames.isEnded { break }
      if isIdle { try await writer.write(StreamFrames.heartbeat) }
    }
    try await writer.finish(nil)
  }
}

/// Gives a value to the task that takes it.
private final class Handover<Value>: Sendable {
  private let value: Mutex<Value?>

  init(_ value: sending Value) {
    self.value = Mutex(value)
  }

  /// - Returns: `nil` if it has been taken.
  func take() -> sending Value? {
    value.withLock { value in
      let taken = value
      value = nil
      return taken
    }
  }
}

/// Transfers a writer to the task that writes.
private final class WriterBox: @unchecked Sendable {
  // Sendable: the task that creates it waits for the one that writes, and does not use it
  // meanwhile. It cannot be a `Handover`, because Hummingbird's closure does not get the writer as
  // `sending`.

  var writer: any ResponseBodyWriter

  init(_ writer: any ResponseBodyWriter) {
    self.writer = writer
  }
}

extension HTTPField.Name {
  /// Tells proxies such as nginx not to buffer a stream.
  fileprivate static let accelBuffering = HTTPField.Name("X-Accel-Buffering")!
}
