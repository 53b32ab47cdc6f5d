import AsyncHTTPClient
import Foundation
import NIOCore
import Testing

/// The program with a history on disk.
@Suite(.timeLimit(.minutes(5))) struct StoreProgramTests {
  private let folder: TemporaryFolder
  private var store: String { folder.path("store") }

  init() throws {
    folder = try TemporaryFolder()
  }

  private func start(_ options: String...) throws -> ServerProcess {
    try ServerProcess(["--port", "0", "--store", store] + options)
  }

  /// What one publisher has sent, in order, with the ids of the acknowledged events.
  private struct Sent {
    var topic: String
    var acknowledged: [(id: UInt64, text: String)] = []
    /// Sent, but without a response.
    var unknown: [String] = []
  }

  /// Publishes until the server is gone. `whenAcknowledged` is called for each event.
  private func publish(
    _ sent: Sent, _ client: ProcessClient, whenAcknowledged: @Sendable () -> Void
  ) async -> Sent {
    var sent = sent
    while true {
      let text = "\(sent.acknowledged.count + sent.unknown.count)"
      guard let id = try? await client.publish(text, to: sent.topic) else {
        sent.unknown.append(text)
        return sent
      }
      sent.acknowledged.append((id, text))
      whenAcknowledged()
    }
  }

  /// Reads a topic until the connection ends, or until the event "end".
  private func read(_ events: [EventReader.Block], _ stream: EventReader) async
    -> [EventReader.Block]
  {
    var (events, stream) = (events, stream)
    while let event = try? await stream.next() {
      events.append(event)
      if event.data == "end" { break }
    }
    return events
  }

  /// Publishers and clients of several topics, while the server is killed and started again.
  @Test func aKilledServerLosesNoAcknowledgedEvent() async throws {
    let (topics, kills) = (4, 5)
    let options = ["--buffer", "100000", "--history", "100000"]
    try await ProcessClient.with { http in
      var sent = (0..<topics).map { Sent(topic: "t\($0)") }
      var seen = [[EventReader.Block]](repeating: [], count: topics)
      for round in 0...kills {
        let server = try ServerProcess(["--port", "0", "--store", store] + options)
        let client = ProcessClient(port: try server.port(), client: http)
        var readers: [Task<[EventReader.Block], Never>] = []
        for topic in 0..<topics {
          if round == 0 {
            // With its id a stream can be resumed that has received nothing before the first kill.
            let id = try #require(try await client.publish("0", to: "t\(topic)"))
            sent[topic].acknowledged.append((id, "0"))
            seen[topic].append(EventReader.Block(id: id, data: "0"))
          }
          let stream = try await client.stream("t\(topic)", after: seen[topic].last?.id)
          readers.append(Task { [events = seen[topic]] in await read(events, stream) })
        }
        if round < kills {
          let (acknowledgements, continuation) = AsyncStream<Void>.makeStream()
          let publishers = sent.map { sent in
            Task { await publish(sent, client) { continuation.yield() } }
          }
          // Ends if no publisher is left, which the count of events reports.
          let watch = Task {
            for publisher in publishers { _ = await publisher.value }
            continuation.finish()
          }
          var count = 0
          for await _ in acknowledgements {
            count += 1
            if count == 100 + 37 * round { break }
          }
          #expect(count == 100 + 37 * round)
          server.send(SIGKILL)
          for topic in 0..<topics { sent[topic] = await publishers[topic].value }
          await watch.value
        } else {
          for topic in 0..<topics {
            #expect(try await client.publish("end", to: "t\(topic)") != nil)
          }
        }
        for topic in 0..<topics { seen[topic] = await readers[topic].value }
        server.send(SIGKILL)
        _ = try server.wait()
      }
      for topic in 0..<topics { check(seen[topic], sent[topic]) }
      #expect(sent.reduce(0) { $0 + $1.acknowledged.count } >= 5 * 100)
      // A client that has seen nothing of it gets the same from the disk.
      let server = try start("--buffer", "1", "--history", "1")
      let client = ProcessClient(port: try server.port(), client: http)
      for topic in 0..<topics {
        let first = try #require(seen[topic].first?.id)
        let stream = try await client.stream("t\(topic)", after: first)
        #expect(await read([seen[topic][0]], stream) == seen[topic])
      }
      server.send(SIGKILL)
      _ = try server.wait()
    }
  }

  /// Each acknowledged event was seen once, in the order of publication, and nothing else but
  /// events whose publication had no response.
  private func check(_ seen: [EventReader.Block], _ sent: Sent) {
    #expect(seen.allSatisfy { $0.event == nil }, "events are missing")
    let ids = seen.compactMap(\.id)
    #expect(ids.count == seen.count)
    #expect(zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 })
    let texts = seen.dropLast().compactMap(\.data)
    #expect(seen.last?.data == "end")
    let numbers = texts.compactMap { Int($0) }
    #expect(numbers == Array(Set(numbers)).sorted())
    let byID = Dictionary(uniqueKeysWithValues: zip(ids, seen.compactMap(\.data)))
    for (id, text) in sent.acknowledged { #expect(byID[id] == text) }
    let extra = Set(texts).subtracting(sent.acknowledged.map(\.text))
    #expect(extra.isSubset(of: sent.unknown))
    #expect(texts.count == sent.acknowledged.count + extra.count)
  }

  @Test func aGracefulShutdownKeepsEverything() async throws {
    try await ProcessClient.with { http in
      var server = try start()
      var client = ProcessClient(port: try server.port(), client: http)
      let id = try #require(try await client.publish("1"))
      #expect(try await client.publish("2") == id + 1)
      let (_, health) = try await client.request("/health")
      #expect(health == #"{"status":"ok","log":"sqlite","connected":true,"streams":0}"# + "\n")
      server.terminate()
      #expect(try server.wait().errors.isEmpty)
      #expect(server.exitStatus == 0)
      server = try start()
      client = ProcessClient(port: try server.port(), client: http)
      var stream = try await client.stream(after: id)
      #expect(try await stream.data(1) == ["2"])
      #expect(try await client.publish("3") == id + 2)
      server.terminate()
      _ = try server.wait()
    }
  }

  // MARK: - Errors at the start

  private func expectError(_ message: String, _ arguments: [String]) throws {
    let server = try ServerProcess(arguments)
    let output = try server.wait()
    #expect(try #require(server.exitStatus) != 0)
    #expect(output.errors.hasPrefix("fan-out-server: \(message)"), "\(output.errors)")
    #expect(output.errors.split(separator: "\n").count == 1, "\(output.errors)")
    #expect(output.standardOutput.isEmpty)
  }

  @Test(arguments: [
    (["--store", "/proc/nothing"], "--store: the folder '/proc/nothing' cannot be "),
    (["--store", "/etc/passwd"], "--store: the folder '/etc/passwd' cannot be written: Not a dir"),
    (
      ["--store", "/nothing/at/all"], "--store: the folder '/nothing/at/all' cannot be created: No"
    ),
    (["--store", ""], "--store: the folder has no name"),
    (
      ["--store", "/tmp", "--store-events", "0"],
      "--store-events: 0 is not between 1 and 1000000000"
    ),
    (["--store", "/tmp", "--store-bytes", "9"], "--store-bytes: 9 is not between 1048576 and "),
    (["--store", "/tmp", "--store-age", "0"], "--store-age: 0 is not between 1 and "),
    (["--store-age", "60"], "--store-age: there is no --store"),
    (
      ["--store", "/tmp", "--relay", "nats://127.0.0.1:1"],
      "--store: the broker of --relay keeps the events: use one of both"
    ),
  ])
  func aWrongOptionIsOneLine(_ arguments: [String], _ message: String) throws {
    try expectError(message, ["--port", "0"] + arguments)
  }

  @Test func aLockedStoreIsOneLine() throws {
    let server = try start()
    _ = try server.port()
    try expectError(
      "--store: another server uses the folder '\(store)'", ["--port", "0", "--store", store])
    server.terminate()
    _ = try server.wait()
    #expect(server.exitStatus == 0)
  }

  /// How a test damages the database.
  enum Damage: String, CaseIterable {
    case begin, middle, end, empty, text, foreign
  }

  @Test(arguments: Damage.allCases)
  func aDamagedStoreIsOneLine(_ damage: Damage) async throws {
    let server = try start()
    let port = try server.port()
    try await ProcessClient.with { http in
      let client = ProcessClient(port: port, client: http)
      for number in 0..<200 {
        try #require(
          try await client.publish(String(repeating: "x", count: 2000), to: "t\(number)") != nil)
      }
    }
    server.terminate()
    _ = try server.wait()
    let file = URL(filePath: "\(store)/events.sqlite")
    var bytes = try Data(contentsOf: file)
    try #require(bytes.count > 400_000)
    let noise = Data((0..<4096).map { UInt8(truncatingIfNeeded: $0 * 31 + 7) })
    switch damage {
    case .begin: bytes.replaceSubrange(0..<100, with: noise[0..<100])
    case .middle: bytes.replaceSubrange(204_800..<208_896, with: noise)
    case .end: bytes.removeLast(100_000)
    case .empty: bytes = Data(count: 8192)
    case .text: bytes = Data("not a database".utf8)
    case .foreign: bytes.replaceSubrange(68..<72, with: [1, 2, 3, 4])
    }
    try bytes.write(to: file)
    try expectError("--store: the store is damaged: ", ["--port", "0", "--store", store])
  }
}
