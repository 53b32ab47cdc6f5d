#if os(Linux)
  import AsyncHTTPClient
  import Foundation
  import NIOCore
  import Testing

  @testable import SQLiteStore

  /// A store whose disk becomes full, or is read-only.
  @Suite(.timeLimit(.minutes(5)), .enabled(if: SmallDisk.isPossible, "needs to mount a disk"))
  struct FullDiskTests {
    /// SQLite opens it for reading if there is a log, as after a server that was killed.
    @Test(arguments: ["events.sqlite", "events.sqlite-wal", "lock"])
    func aReadOnlyFileIsAnErrorAtTheStart(_ name: String) throws {
      let disk = try SmallDisk(megabytes: 6)
      let settings = StoreSettings(folder: disk.url.appending(path: "store").path())
      let database = try EventDatabase(settings)
      defer { database.close() }
      let copy = disk.url.appending(path: "copy")
      try FileManager.default.copyItem(atPath: settings.folder, toPath: copy.path())
      try disk.freeze(copy.appending(path: name))
      let error = #expect(throws: StoreError.self) {
        try EventDatabase(StoreSettings(folder: copy.path()))
      }
      #expect(try #require(error).description.contains(" cannot be written: "))
    }

    @Test func aFullDiskRefusesEventsUntilThereIsSpace() async throws {
      let disk = try SmallDisk(megabytes: 6)
      let store = disk.url.appending(path: "store").path()
      let filler = disk.url.appending(path: "filler")
      try Data(count: 3 << 20).write(to: filler)
      let options = ["--port", "0", "--store", store, "--history", "9999", "--buffer", "9999"]
      try await ProcessClient.with { http in
        var server = try ServerProcess(options)
        var client = ProcessClient(port: try server.port(), client: http)
        let text = String(repeating: "x", count: 20_000)
        let first = try #require(try await client.publish("first"))
        var stream = try await client.stream(after: first)
        var ids: [UInt64] = []
        while let id = try await client.publish(text) { ids.append(id) }
        #expect(!ids.isEmpty)
        let (status, body) = try await client.request("/topics/news", publish: text)
        #expect(status == 503)
        #expect(body == #"{"error":"the store has no space left"}"# + "\n")
        let (_, health) = try await client.request("/health")
        #expect(health.contains(#""status":"disconnected","log":"sqlite","connected":false"#))
        #expect(health.contains(#""problem":"the store has no space left""#), "\(health)")
        #expect(try await client.request("/metrics").1.contains("fanout_log_connected 0\n"))
        try FileManager.default.removeItem(at: filler)
        // Without a publication, the server notices that there is space again.
        while try await !client.request("/health").1.contains(#""status":"ok""#) {
          try Task.checkCancellation()
        }
        let id = try #require(try await client.publish("last"))
        // Refused events have no ids.
        #expect(id == (ids.last ?? 0) + 1)
        ids.append(id)
        let texts = [String](repeating: text, count: ids.count - 1) + ["last"]
        #expect(try await stream.data(ids.count) == texts)
        server.send(SIGKILL)
        let errors = try server.wait().errors
        #expect(
          errors.ranges(of: "events cannot be stored: the store has no space left").count == 1)
        server = try ServerProcess(options)
        client = ProcessClient(port: try server.port(), client: http)
        stream = try await client.stream(after: first)
        #expect(try await stream.data(ids.count) == texts)
        server.send(SIGKILL)
        _ = try server.wait()
      }
    }
  }
#endif
