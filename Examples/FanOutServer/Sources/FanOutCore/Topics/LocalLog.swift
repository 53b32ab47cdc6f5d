internal import ServiceLifecycle

/// The log of a single server. Events exist only in its memory.
///
/// An actor, because numbering and delivering an event are one step.
actor LocalLog: EventLog {
  private let topics: Topics
  private var lastID: EventID

  /// - Parameter id: the id before the first event.
  init(_ topics: Topics, startingAfter id: EventID) {
    self.topics = topics
    lastID = id
    topics.begin(after: id)
  }

  func publish(_ message: Message, to topic: Topic) throws(Unavailable) -> Receipt {
    lastID += 1
    let event = Event(id: lastID, topic: topic, message: message)
    guard let subscribers = topics.deliver(event) else {
      throw Unavailable("the server is shutting down")
    }
    return Receipt(id: lastID, subscribers: subscribers)
  }

  /// No other event is between them.
  func publish(_ publications: [Publication]) -> [Result<Receipt, Unavailable>] {
    publications.map { publication in
      Result { () throws(Unavailable) in
        try publish(publication.message, to: publication.topic)
      }
    }
  }

  nonisolated func run() async throws {
    try? await gracefulShutdown()
  }

  nonisolated var status: LogStatus { LogStatus(kind: "local", isConnected: true) }
}
