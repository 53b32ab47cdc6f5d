internal import ServiceLifecycle

/// The log of a single server. Events exist only in its memory.
public struct LocalLog: EventLog {
  private let board: Board

  public init(_ board: Board) {
    self.board = board
  }

  public func publish(_ message: Message, to topic: Topic) async throws(Unavailable) -> Receipt {
    try await board.append(message, to: topic)
  }

  public func run() async throws {
    try? await gracefulShutdown()
  }

  public var status: LogStatus { LogStatus(kind: "local", isConnected: true) }
}
