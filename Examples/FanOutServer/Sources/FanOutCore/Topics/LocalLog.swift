internal import ServiceLifecycle

/// The log of a single server. Events exist only in its memory.
public struct LocalLog: EventLog {
  private let topics: Topics

  public init(_ topics: Topics) {
    self.topics = topics
  }

  public func publish(_ message: Message, to topic: Topic) async throws(Unavailable) -> Receipt {
    try await topics.append(message, to: topic)
  }

  public func run() async throws {
    try? await gracefulShutdown()
  }

  public var status: LogStatus { LogStatus(kind: "local", isConnected: true) }
}
