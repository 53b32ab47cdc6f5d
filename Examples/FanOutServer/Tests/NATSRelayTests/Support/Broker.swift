#if NATS
  import Foundation

  /// A NATS server with JetStream, whose store outlives its process.
  actor Broker {
    nonisolated let port: Int
    private let folder: URL
    private var child: Child?

    init() throws {
      port = try freePort()
      folder = FileManager.default.temporaryDirectory.appending(path: "relay-\(UUID().uuidString)")
    }

    nonisolated var url: String { "nats://127.0.0.1:\(port)" }

    func start() throws {
      child = try Child(
        Child.path(of: "nats-server"),
        ["--addr", "127.0.0.1", "--port", "\(port)", "--jetstream", "--store_dir", folder.path()])
    }

    func kill() {
      child?.kill()
      child = nil
    }

    /// Lets it keep its connections, and do nothing.
    func pause() { child?.pause() }

    func resume() { child?.resume() }

    func remove() {
      kill()
      try? FileManager.default.removeItem(at: folder)
    }
  }
#endif
