import NIOCore
import NIOPosix
import Testing

@testable import FanOutFloor
@testable import FanOutLoad

@Suite(.timeLimit(.minutes(3))) struct FloorServerTests {
  @Test func eachStreamGetsEachEventOnceAndInOrder() async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let server = try await FloorServer.start(on: group.next(), port: 0)
    let run = LoadRun(
      host: "127.0.0.1", port: server.localAddress?.port ?? 0, publishPath: "/topics/a",
      subscribePath: "/topics/a/events", streams: 50, stalledStreams: 0, loops: 1,
      payloadBytes: 64, warmUp: 20, schedule: Schedule(rate: 0, window: 8, extent: .events(100)),
      processes: [], patienceSeconds: 40)
    let report = try await run.run()
    try await group.shutdownGracefully()
    #expect(report.complaints.isEmpty)
    #expect(report.deliveries == 100 * 50)
  }
}
