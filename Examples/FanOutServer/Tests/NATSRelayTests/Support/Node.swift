#if NATS
  import AsyncHTTPClient
  import ChildProcess
  import Foundation
  import NIOCore
  import NIOHTTP1
  import NIOPosix
  import Testing

  /// A server process.
  struct Node: Sendable {
    /// An event or a notice that a client received. Most notices of the server have no id.
    struct Seen: Hashable, Sendable {
      var id: UInt64?
      var data: String
    }

    let port: Int
    private let child: ChildProcess
    private let client: HTTPClient

    /// - Parameter output: the file for standard output and standard error.
    init(
      _ broker: Broker, _ client: HTTPClient, urls: String? = nil, options: [String] = [],
      output: FileHandle? = nil
    ) throws {
      port = try freePort()
      self.client = client
      child = try ChildProcess(
        ChildProcess.built("fan-out-server"),
        [
          "--port", "\(port)", "--buffer", "100000", "--history", "100000", "--max-event-bytes",
          "4000000",
        ] + options,
        // Not an argument: an address may have a password.
        environment: ["FANOUT_RELAY": urls ?? broker.url, "FANOUT_IDLE": "3600"], output: output,
        errors: output)
    }

    func kill() { child.kill() }

    /// Starts a graceful shutdown.
    func terminate() { child.terminate() }

    /// Waits until it has ended.
    func wait() { child.wait() }

    func pause() { child.pause() }

    func resume() { child.resume() }

    /// - Returns: the status and the body; `nil` without a response.
    func request(_ path: String, publish text: String? = nil) async -> (UInt, String)? {
      var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
      if let text {
        request.method = .POST
        request.body = .bytes(ByteBuffer(string: text))
      }
      guard let response = try? await client.execute(request, deadline: .now() + .seconds(30)),
        let body = try? await response.body.collect(upTo: 1 << 20)
      else { return nil }
      return (response.status.code, String(buffer: body))
    }

    /// - Returns: the id; `nil` if the server responds with 503.
    func publish(_ text: String, to topic: String = "news") async throws -> UInt64? {
      let (status, body) = try #require(await request("/topics/\(topic)", publish: text))
      if status == 503 { return nil }
      try #require(status == 200, "\(body)")
      let id: UInt64 = try #require(UInt64(body.drop { !$0.isNumber }.prefix { $0.isNumber }))
      return id
    }

    /// Polls the health check until it shows `status`; throws if the server has ended.
    func wait(until status: String) async throws {
      try await eventually {
        try #require(child.isRunning, "the server has ended")
        return await request("/health")?.1.contains("\"status\":\"\(status)\",\"log\":\"nats\"")
          == true
      }
    }

    /// Polls the metrics until the server has delivered `count` events.
    func wait(untilPublished count: Int) async throws {
      try await eventually {
        await request("/metrics")?.1.contains("fanout_published_total \(count)\n") == true
      }
    }

    /// Opens a stream; it is subscribed when this function returns.
    ///
    /// - Returns: a task with the received events, up to one with the data "end".
    func seen(
      of topic: String = "news", query: String? = nil, after id: UInt64? = nil
    ) async throws -> Task<[Seen], any Error> {
      let path = query.map { "/events?\($0)" } ?? "/topics/\(topic)/events"
      var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
      if let id { request.headers.add(name: "Last-Event-ID", value: "\(id)") }
      let response = try await client.execute(request, deadline: .distantFuture)
      try #require(response.status == .ok)
      return Task {
        var seen: [Seen] = []
        var id: UInt64?
        var rest = ""
        for try await chunk in response.body {
          rest += String(buffer: chunk)
          let lines = rest.split(separator: "\n", omittingEmptySubsequences: false)
          rest = String(lines.last ?? "")
          for line in lines.dropLast() {
            if line.isEmpty { id = nil }
            let value = line.drop { $0 != ":" }.dropFirst().drop { $0 == " " }
            if line.hasPrefix("id:") { id = UInt64(value) }
            guard line.hasPrefix("data:") else { continue }
            seen.append(Seen(id: id, data: String(value)))
            if value == "end" || value.hasSuffix(#""data":"end"}"#) { return seen }
          }
        }
        return seen
      }
    }
  }

  /// Several servers and their broker.
  struct Cluster: Sendable {
    let broker: Broker
    let nodes: [Node]
    let client: HTTPClient

    /// Runs `body` with connected servers, and ends them afterwards.
    static func with(
      nodes count: Int = 3, isBrokerThere: Bool = true,
      _ body: @Sendable (Cluster) async throws -> Void
    ) async throws {
      let broker = try Broker()
      if isBrokerThere { try await broker.start() }
      var configuration = HTTPClient.Configuration()
      configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 4096
      let client = HTTPClient(
        eventLoopGroup: MultiThreadedEventLoopGroup.singleton, configuration: configuration)
      let result: Result<Void, any Error>
      var nodes: [Node] = []
      do {
        for _ in 0..<count { nodes.append(try Node(broker, client)) }
        for node in nodes { try await node.wait(until: isBrokerThere ? "ok" : "disconnected") }
        try await body(Cluster(broker: broker, nodes: nodes, client: client))
        result = .success(())
      } catch {
        result = .failure(error)
      }
      for node in nodes { node.kill() }
      await broker.remove()
      try await client.shutdown()
      try result.get()
    }
  }
#endif
