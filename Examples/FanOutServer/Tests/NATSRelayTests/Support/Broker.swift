#if NATS
  import CNATS
  import ChildProcess
  import FanOutCore
  import Foundation
  import Testing

  /// A NATS server with JetStream, whose store outlives its process.
  actor Broker {
    nonisolated let port: Int
    private let folder: URL
    private let credentials: (user: String, password: String)?
    private let storage: Int?
    private let authorization: String
    private var child: ChildProcess?

    /// - Parameters:
    ///   - credentials: the user and the password that clients need.
    ///   - storage: the limit of its store in bytes.
    ///   - authorization: the users and their rights, as in its configuration file.
    init(
      credentials: (user: String, password: String)? = nil, storage: Int? = nil,
      authorization: String = ""
    ) throws {
      self.credentials = credentials
      self.storage = storage
      self.authorization = authorization
      port = try freePort()
      folder = FileManager.default.temporaryDirectory.appending(path: "relay-\(UUID().uuidString)")
    }

    nonisolated var url: String { url(password: nil) }

    /// - Parameter password: a wrong password; `nil`: the right one.
    nonisolated func url(password: String?) -> String {
      let shown = credentials.map { "\($0.user):\(password ?? $0.password)@" } ?? ""
      return "nats://\(shown)127.0.0.1:\(port)"
    }

    func start() throws {
      var store = ["--jetstream", "--store_dir", folder.path()]
      if storage != nil || !authorization.isEmpty {
        // There are no options for them.
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: "nats.conf")
        let limit = storage.map { ", max_file: \($0)" } ?? ""
        let text = "jetstream { store_dir: \"\(folder.path())\"\(limit) }\n\(authorization)"
        try Data(text.utf8).write(to: file)
        store = ["--config", file.path()]
      }
      let program = try #require(
        ChildProcess.path(of: "nats-server"), "nats-server is not installed")
      child = try ChildProcess(
        program,
        ["--addr", "127.0.0.1", "--port", "\(port)"] + store
          + (credentials.map { ["--user", $0.user, "--pass", $0.password] } ?? []))
    }

    func kill() {
      child?.kill()
      child = nil
    }

    /// Stops the process; its connections stay open.
    func pause() { child?.pause() }

    func resume() { child?.resume() }

    /// Publishes events of the topic "news" directly, which is faster than through a server.
    nonisolated func publish(count: Int) throws {
      let connection = try connect()
      defer { natsConnection_Destroy(connection) }
      for _ in 0..<count {
        try #require(natsConnection_PublishString(connection, "fanout.news", "x") == NATS_OK)
      }
      try #require(natsConnection_Flush(connection) == NATS_OK)
    }

    private nonisolated func connect() throws -> OpaquePointer? {
      var connection: OpaquePointer?
      try #require(natsConnection_ConnectTo(&connection, url) == NATS_OK)
      return connection
    }

    /// Deletes an event of the stream, or all of them.
    nonisolated func delete(_ id: EventID? = nil) throws {
      let connection = try connect()
      defer { natsConnection_Destroy(connection) }
      var context: OpaquePointer?
      try #require(natsConnection_JetStream(&context, connection, nil) == NATS_OK)
      defer { jsCtx_Destroy(context) }
      let status =
        if let id {
          js_DeleteMsg(context, "fanout", id, nil, nil)
        } else {
          js_PurgeStream(context, "fanout", nil, nil)
        }
      try #require(status == NATS_OK)
    }

    /// Deletes the consumers of the stream.
    nonisolated func deleteConsumers() throws {
      struct Names: Decodable { var consumers: [String] }
      let connection = try connect()
      defer { natsConnection_Destroy(connection) }
      let names = Data(try request("CONSUMER.NAMES.fanout", "", connection).utf8)
      for name in try JSONDecoder().decode(Names.self, from: names).consumers {
        _ = try request("CONSUMER.DELETE.fanout.\(name)", "", connection)
      }
    }

    /// Adds a subject to the stream.
    nonisolated func addSubject(_ subject: String) throws {
      let connection = try connect()
      defer { natsConnection_Destroy(connection) }
      var context: OpaquePointer?
      try #require(natsConnection_JetStream(&context, connection, nil) == NATS_OK)
      defer { jsCtx_Destroy(context) }
      var info: UnsafeMutablePointer<jsStreamInfo>?
      try #require(js_GetStreamInfo(&info, context, "fanout", nil, nil) == NATS_OK)
      defer { jsStreamInfo_Destroy(info) }
      var configuration = try #require(info).pointee.Config.pointee
      let status = "fanout.>".withCString { first in
        subject.withCString { second in
          // SAFETY: what the configuration points to outlives the call, which copies it.
          var list: [UnsafePointer<CChar>?] = [first, second]
          return list.withUnsafeMutableBufferPointer { list in
            configuration.Subjects = list.baseAddress
            configuration.SubjectsLen = 2
            return js_UpdateStream(nil, context, &configuration, nil, nil)
          }
        }
      }
      try #require(status == NATS_OK)
    }

    /// Deletes the stream, and creates one that recognises repeated messages for this time.
    nonisolated func replaceStream(duplicateSeconds: Int) throws {
      let connection = try connect()
      defer { natsConnection_Destroy(connection) }
      _ = try request("STREAM.DELETE.fanout", "", connection)
      let settings = #""allow_direct":true,"duplicate_window":\#(duplicateSeconds)000000000"#
      let answer = try request(
        "STREAM.CREATE.fanout", #"{"name":"fanout","subjects":["fanout.>"],\#(settings)}"#,
        connection)
      try #require(!answer.contains(#""error""#), "\(answer)")
    }

    /// Adds a mirror, which answers direct gets too, and which has none of the `count` messages.
    nonisolated func addEmptyMirror(count: Int) async throws {
      let connection = try connect()
      defer { natsConnection_Destroy(connection) }
      let mirror = #"{"name":"behind","mirror":{"name":"fanout"},"mirror_direct":true}"#
      _ = try request("STREAM.CREATE.behind", mirror, connection)
      try await eventually {
        try request("STREAM.INFO.behind", "", connection).contains("\"messages\":\(count),")
      }
      _ = try request("STREAM.PURGE.behind", "", connection)
    }

    /// - Returns: the response of JetStream.
    private nonisolated func request(
      _ subject: String, _ body: String, _ connection: OpaquePointer?
    ) throws -> String {
      var message: OpaquePointer?
      let status = natsConnection_RequestString(
        &message, connection, "$JS.API.\(subject)", body, 10_000)
      try #require(status == NATS_OK)
      defer { natsMsg_Destroy(message) }
      return String(cString: try #require(natsMsg_GetData(message)))
    }

    func remove() {
      kill()
      try? FileManager.default.removeItem(at: folder)
    }
  }
#endif
