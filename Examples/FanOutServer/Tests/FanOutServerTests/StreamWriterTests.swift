import Foundation
import NIOCore
import NIOPosix
import Testing

@testable import FanOutCore

/// What a stream writes to the socket itself, and what to its channel.
@Suite(.timeLimit(.minutes(5))) struct StreamWriterTests {
  /// Counts what is written to the channel.
  private final class Counter: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    var writes = 0
    var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      writes += 1
      context.write(data, promise: promise)
    }
  }

  /// Writes through a channel. Belongs to its event loop.
  private final class Stream: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer

    let counter: Counter
    private let writer = StreamWriter()
    private var context: ChannelHandlerContext?

    init(_ counter: Counter) { self.counter = counter }

    func handlerAdded(context: ChannelHandlerContext) {
      self.context = context
      writer.useSocket(of: context.channel)
    }

    func write(_ text: String) {
      if let context { writer.write(ByteBuffer(string: text), context) }
    }

    func write(_ texts: [String]) {
      guard let context else { return }
      writer.write(
        ByteBuffer(string: texts.joined()), of: texts.lazy.map { ByteBuffer(string: $0) }, context)
    }

    func flush() {
      if let context { writer.flush(context) }
    }

    var channel: (any Channel)? { context?.channel }
  }

  /// A channel with a stream, whose socket is one of a pair, and the other one.
  private struct Pair<Handler: ChannelHandler & SendableMetatype> {
    let channel: any Channel
    let peer: CInt
    let counter: NIOLoopBound<Counter>
    let stream: NIOLoopBound<Handler>

    /// - Parameter make: makes the stream, on its event loop.
    init(_ make: @escaping @Sendable (Counter, any EventLoop) throws -> Handler) async throws {
      var files: [CInt] = [0, 0]
      #if canImport(Darwin)
        let type = SOCK_STREAM
      #else
        let type = CInt(SOCK_STREAM.rawValue)
      #endif
      try #require(socketpair(AF_UNIX, type, 0, &files) == 0)
      peer = files[1]
      try #require(fcntl(peer, F_SETFL, O_NONBLOCK) == 0)
      channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .withConnectedSocket(files[0]).get()
      let channel = channel
      (counter, stream) = try await channel.eventLoop.submit {
        let counter = Counter()
        let stream = try make(counter, channel.eventLoop)
        try channel.pipeline.syncOperations.addHandlers([counter, stream])
        return (
          NIOLoopBound(counter, eventLoop: channel.eventLoop),
          NIOLoopBound(stream, eventLoop: channel.eventLoop)
        )
      }.get()
    }

    /// Runs `body` on the event loop.
    func run<Result: Sendable>(
      _ body: @escaping @Sendable (Handler) throws -> Result
    ) async throws -> Result {
      let stream = stream
      return try await channel.eventLoop.submit { try body(stream.value) }.get()
    }

    func close() async throws {
      try? await channel.close()
      try #require(Foundation.close(peer) == 0)
    }
  }

  /// Reads what there is, up to `count` bytes.
  private static func text(from file: CInt, upTo count: Int) -> String {
    var bytes = [UInt8](repeating: 0, count: count)
    let result = read(file, &bytes, count)
    return String(decoding: bytes.prefix(max(0, result)), as: UTF8.self)
  }

  private static func text(_ number: Int) -> String {
    "\(number)\n".padding(toLength: 512, withPad: ".", startingAt: 0)
  }

  @Test func everythingArrivesInTheOrderOfTheWrites() async throws {
    let pair = try await Pair { counter, _ in Stream(counter) }
    let peer = pair.peer
    let count = 1000
    // The peer reads nothing, so that the socket is soon full. Then it reads a part: the socket
    // takes more while the channel still has what comes before.
    let (beginning, writes) = try await pair.run { stream in
      var received = ""
      var writes: [Int] = []
      for number in 0..<count {
        if number == count / 2 { received = Self.text(from: peer, upTo: 100_000) }
        stream.write(Self.text(number))
        if number % 7 != 0 { stream.flush() }
        writes.append(stream.counter.writes)
      }
      stream.flush()
      return (received, writes + [stream.counter.writes])
    }
    #expect(writes[1] == 2, "two at once are for the channel")
    #expect(writes[6] == 2, "single ones are not, up to the full socket")
    #expect(writes[count] > count / 2)
    let expected = (0..<count).map(Self.text).joined()
    var received = beginning
    while received.utf8.count < expected.utf8.count {
      received += Self.text(from: peer, upTo: 100_000)
      await Task.yield()
    }
    let isEqual = received == expected
    #expect(isEqual)
    // The channel has nothing to write any more.
    let lastWrites = try await pair.run { stream in
      stream.write("last")
      stream.flush()
      return stream.counter.writes
    }
    #expect(lastWrites == writes[count])
    #expect(Self.text(from: peer, upTo: 100) == "last")
    try await pair.close()
  }

  @Test func theSocketTakesJoinedPartsAndTheChannelTheRestOfThem() async throws {
    let pair = try await Pair { counter, _ in Stream(counter) }
    let texts = (0..<2000).map(Self.text)
    let (first, second) = try await pair.run { stream in
      stream.write(Array(texts[0..<3]))
      stream.flush()
      let first = stream.counter.writes
      stream.write(Array(texts[3...]))
      stream.flush()
      return (first, stream.counter.writes)
    }
    #expect(first == 0)
    #expect((2..<texts.count).contains(second), "the rest, in parts: \(second)")
    let expected = texts.joined()
    var received = ""
    while received.utf8.count < expected.utf8.count {
      received += Self.text(from: pair.peer, upTo: 100_000)
      await Task.yield()
    }
    let isEqual = received == expected
    #expect(isEqual)
    try await pair.close()
  }

  @Test func nothingIsWrittenToAnotherFileWithTheNumberOfAClosedSocket() async throws {
    while true {
      let pair = try await Pair { counter, _ in Stream(counter) }
      let (hasNumber, writes, text) = try await pair.run { stream in
        stream.write("first")
        stream.flush()
        let channel = try #require(stream.channel)
        let number = try #require(
          try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable {
            (socket: NIOBSDSocket.Handle) in socket
          })
        var files: [CInt] = [0, 0]
        try #require(pipe(&files) == 0)
        channel.close(promise: nil)
        let copy = fcntl(files[1], F_DUPFD, number)
        stream.write("second")
        stream.flush()
        for file in [files[1], copy] { try #require(close(file) == 0) }
        let text = Self.text(from: files[0], upTo: 100)
        try #require(close(files[0]) == 0)
        return (copy == number, stream.counter.writes, text)
      }
      #expect(writes == 1, "only the second write is for the channel, which fails it")
      #expect(text == "")
      #expect(Self.text(from: pair.peer, upTo: 100) == "first")
      try await pair.close()
      // Otherwise another thread has taken the number before.
      if hasNumber { break }
    }
  }

  @Test(arguments: [false, true])
  func aStreamUsesItsSocketUnlessThatIsEncrypted(_ isEncrypted: Bool) async throws {
    let source = TopicSource(Settings())
    let loops = try await ConnectionLoops(
      NIOSingletons.posixEventLoopGroup, heartbeat: .hours(1), idle: .hours(1))
    defer { loops.stop() }
    let pair = try await Pair { _, eventLoop in
      let stream = EventStream(
        loops[eventLoop].value, isEncrypted: isEncrypted, retryMilliseconds: 0,
        closesWhenStalled: false)
      let topic = try Topic("news", limit: 9)
      try stream.subscribe(to: .topic(topic), of: source.topics, after: nil, .dropOldest)
      return stream
    }
    var received = ""
    for number in 0..<3 {
      _ = try await source.publish(ByteBuffer(string: "<\(number)>"), to: "news", type: nil)
      while !received.contains("<\(number)>") {
        received += Self.text(from: pair.peer, upTo: 1000)
        await Task.yield()
      }
    }
    let counter = pair.counter
    let writes = try await pair.run { _ in counter.value.writes }
    #expect(writes == (isEncrypted ? 4 : 0), "the time to wait, and each event")
    try await pair.close()
  }
}
