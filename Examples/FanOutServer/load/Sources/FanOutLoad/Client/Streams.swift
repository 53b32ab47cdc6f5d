internal import NIOCore
internal import NIOPosix

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The event streams of a run, distributed over event loops with one collector each.
struct Streams: Sendable {
  /// An event loop and its collector, which only that loop uses.
  private struct Loop: Sendable {
    let eventLoop: any EventLoop
    let collector: NIOLoopBound<Collector>
  }

  private let streamLoops: [Loop]
  private let address: SocketAddress
  private let request: ByteBuffer

  init(
    loops: [any EventLoop], address: SocketAddress, host: String, path: String, payloadSize: Int
  ) async throws {
    var streamLoops: [Loop] = []
    for loop in loops {
      let collector = try await loop.submit {
        NIOLoopBound(Collector(payloadSize: payloadSize), eventLoop: loop)
      }.get()
      streamLoops.append(Loop(eventLoop: loop, collector: collector))
    }
    self.streamLoops = streamLoops
    self.address = address
    request = ByteBuffer(
      string: "GET \(path) HTTP/1.1\r\nHost: \(host)\r\nAccept: text/event-stream\r\n\r\n")
  }
}

extension Streams {
  /// Streams that open at the same time: well below the backlog of a listening socket.
  private static let opening = 128
  /// Streams with the same source address: well below the number of local ports.
  private static let perSource = 10_000

  /// Opens `count` streams, and returns when the server has responded on each of them.
  func open(_ count: Int, areStalled: Bool = false) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<count {
        if index >= Self.opening { try await group.next() }
        group.addTask { try await openStream(index, isStalled: areStalled) }
      }
      try await group.waitForAll()
    }
  }

  private func openStream(_ index: Int, isStalled: Bool) async throws {
    let loop = streamLoops[index % streamLoops.count]
    let opened = loop.eventLoop.makePromise(of: Void.self)
    var bootstrap = ClientBootstrap(group: loop.eventLoop)
      .connectTimeout(.seconds(20))
      .channelInitializer { [request] channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(
            StreamHandler(
              request: request, collector: loop.collector.value, isStalled: isStalled,
              opened: opened))
        }
      }
    if isStalled {
      // Small kernel buffers, so that unread data soon blocks the server. The server's kernel sizes
      // its buffer by the segment size, which is 64 KB on loopback.
      bootstrap = bootstrap.channelOption(.socketOption(.so_rcvbuf), value: 4096)
        .channelOption(.tcpOption(.init(rawValue: CInt(TCP_MAXSEG))), value: 1448)
    }
    if let source = try source(index) { bootstrap = bootstrap.bind(to: source) }
    do {
      _ = try await bootstrap.connect(to: address).get()
    } catch {
      opened.fail(error)
    }
    do {
      try await opened.futureResult.get()
    } catch {
      throw LoadError("stream \(index + 1) cannot be opened: \(error)")
    }
  }

  /// `127.0.0.2` for the second ten thousand streams, and so on; `nil` if the system may choose.
  private func source(_ index: Int) throws -> SocketAddress? {
    guard index >= Self.perSource, address.ipAddress?.hasPrefix("127.") == true else { return nil }
    return try SocketAddress(ipAddress: "127.0.0.\(1 + index / Self.perSource)", port: 0)
  }
}

extension Streams {
  /// Calls `body` on each loop with the number of events that all streams of the loop have.
  func onCompleted(_ body: @escaping @Sendable (_ count: Int, _ loop: Int) -> Void) async throws {
    for (index, loop) in streamLoops.enumerated() {
      try await loop.eventLoop.submit {
        loop.collector.value.onCompleted = { body($0, index) }
      }.get()
    }
  }

  /// Records the latencies of events from number `sequence` on.
  func measure(from sequence: Int) async throws {
    for loop in streamLoops {
      try await loop.eventLoop.submit { loop.collector.value.measuredFrom = sequence }.get()
    }
  }

  /// The results of all streams after `published` events.
  func tally(published: Int) async throws -> Tally {
    var sum = Tally()
    for loop in streamLoops {
      sum =
        sum
        + (try await loop.eventLoop.submit { loop.collector.value.tally(published: published) }
          .get())
    }
    return sum
  }

  /// Stops the calls of `onCompleted`. Streams that end from now on have not failed.
  func close() async throws {
    for loop in streamLoops {
      try await loop.eventLoop.submit { loop.collector.value.close() }.get()
    }
  }
}
