internal import NIOCore
internal import NIOPosix

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// One measurement: opens the streams, publishes, and reports.
struct LoadRun: Sendable {
  var host: String
  var port: Int
  var publishPath: String
  var subscribePath: String
  var streams: Int
  var stalledStreams: Int
  var loops: Int
  var payloadBytes: Int
  /// Events that are published first, one at a time, without measuring them.
  var warmUp: Int
  /// `nil` measures idle streams only.
  var schedule: Schedule?
  var processes: [Int32]
  /// A run ends after this time without progress.
  var patienceSeconds: Int
}

extension LoadRun {
  /// The value of `Host`, where an address of IPv6 is in brackets (RFC 3986, section 3.2.2).
  var hostField: String { host.contains(":") ? "[\(host)]" : host }

  /// A loop without a stream would receive nothing.
  private var loopsWithStreams: Int { min(loops, streams) }

  func run() async throws -> Report {
    // An event loop has three of its own.
    try OpenFileLimit.raise(to: streams + stalledStreams + 3 * (loopsWithStreams + 1) + 64)
    // A separate loop publishes, so that it does not wait for loops that read streams.
    let group = MultiThreadedEventLoopGroup(numberOfThreads: loopsWithStreams + 1)
    do {
      let report = try await run(on: Array(group.makeIterator()))
      try await group.shutdownGracefully()
      return report
    } catch {
      try? await group.shutdownGracefully()
      throw error
    }
  }

  private func run(on loops: [any EventLoop]) async throws -> Report {
    let address = try SocketAddress.makeAddressResolvingHost(host, port: port)
    let streams = try await Streams(
      loops: Array(loops.dropLast()), address: address, host: hostField, path: subscribePath,
      payloadSize: payloadBytes)
    do {
      let report = try await measure(streams, publishingTo: address, on: loops[loops.count - 1])
      try await streams.close()
      return report
    } catch {
      try? await streams.close()
      throw error
    }
  }

  private func measure(
    _ streams: Streams, publishingTo address: SocketAddress, on loop: any EventLoop
  ) async throws -> Report {
    let before = try ProcessUsage.of(processes)
    try await streams.open(self.streams)
    try await streams.open(stalledStreams, areStalled: true)

    let publisher = try await connectPublisher(on: loop, to: address)
    try await streams.onCompleted { count, loop in
      publisher.eventLoop.execute { publisher.value.streamsCompleted(count, loop: loop) }
    }
    let warmUp = try await publish(
      Schedule(rate: 0, window: 1, extent: .events(self.warmUp)), with: publisher)
    let open = try ProcessUsage.of(processes)
    let client = try ProcessUsage.of([getpid()])

    var outcome = Publisher.Outcome()
    if let schedule, !warmUp.isStalled {
      try await streams.measure(from: self.warmUp)
      outcome = try await publish(schedule, with: publisher)
    }
    let after = try ProcessUsage.of(processes)
    let clientAfter = try ProcessUsage.of([getpid()])
    let tally = try await streams.tally(published: warmUp.published + outcome.published)
    var report = report(
      outcome, tally, before: before, open: open, after: after,
      clientCPUSeconds: clientAfter.cpuSeconds - client.cpuSeconds)
    if warmUp.isStalled || outcome.isStalled {
      report.complaints.append("ended after \(patienceSeconds) s without progress")
    }
    return report
  }

  private func connectPublisher(
    on loop: any EventLoop, to address: SocketAddress
  ) async throws -> NIOLoopBound<Publisher> {
    try await ClientBootstrap(group: loop)
      .channelOption(.tcpOption(.tcp_nodelay), value: 1)
      .connect(to: address)
      .flatMapThrowing { channel in
        let publisher = Publisher(
          host: hostField, path: publishPath, payloadSize: payloadBytes, loops: loopsWithStreams,
          patience: .seconds(Int64(patienceSeconds)))
        try channel.pipeline.syncOperations.addHandler(publisher)
        return NIOLoopBound(publisher, eventLoop: loop)
      }.get()
  }

  private func publish(
    _ schedule: Schedule, with publisher: NIOLoopBound<Publisher>
  ) async throws -> Publisher.Outcome {
    let promise = publisher.eventLoop.makePromise(of: Publisher.Outcome.self)
    publisher.eventLoop.execute { publisher.value.publish(schedule, promise) }
    return try await promise.futureResult.get()
  }

  private func report(
    _ outcome: Publisher.Outcome, _ tally: Tally, before: ProcessUsage, open: ProcessUsage,
    after: ProcessUsage, clientCPUSeconds: Double
  ) -> Report {
    let seconds =
      tally.lastReceipt > outcome.firstSend
      ? Double(tally.lastReceipt - outcome.firstSend) / 1e9 : 0
    func perSecond(_ count: Int, _ seconds: Double) -> Double {
      seconds > 0 ? Double(count) / seconds : 0
    }
    func milliseconds(_ nanoseconds: UInt64) -> Double { Double(nanoseconds) / 1e6 }
    var report = Report(
      streams: streams, stalledStreams: stalledStreams, payloadBytes: payloadBytes,
      rate: schedule?.rate ?? 0, window: schedule?.window ?? 0, published: outcome.published,
      seconds: seconds, publishedPerSecond: perSecond(outcome.published, seconds),
      deliveries: tally.deliveries, deliveriesPerSecond: perSecond(tally.deliveries, seconds),
      p50Milliseconds: milliseconds(tally.latencies.percentile(50)),
      p99Milliseconds: milliseconds(tally.latencies.percentile(99)),
      maxMilliseconds: milliseconds(tally.latencies.maximum),
      latestPublicationMilliseconds: milliseconds(outcome.latest),
      clientCPUSeconds: clientCPUSeconds, server: nil, complaints: tally.complaints)
    if !processes.isEmpty {
      let cpuSeconds = after.cpuSeconds - open.cpuSeconds
      report.server = Report.Server(
        cpuSeconds: cpuSeconds, deliveriesPerCPUSecond: perSecond(tally.deliveries, cpuSeconds),
        residentKilobytesBefore: before.residentKilobytes,
        residentKilobytesOpen: open.residentKilobytes,
        residentKilobytesAfter: after.residentKilobytes,
        kilobytesPerStream: Double(open.residentKilobytes - before.residentKilobytes)
          / Double(streams + stalledStreams))
    }
    return report
  }
}
