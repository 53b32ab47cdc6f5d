internal import ServiceLifecycle
internal import Synchronization

/// The log of a single server. Events exist only in its memory.
///
/// ## Thread safety
/// Every operation may be called from any thread. Numbering and sending an event are one critical
/// section, so that the events arrive in the order of their ids. No code of an application runs in
/// it, and nothing is written to sockets: the subscribers of ``Topics`` note that they have
/// something to read.
final class LocalLog: EventLog {
  private let topics: Topics
  private let lastID: Mutex<EventID>

  /// - Parameter id: the id before the first event.
  init(_ topics: Topics, startingAfter id: EventID) {
    self.topics = topics
    lastID = Mutex(id)
    topics.begin(after: id)
  }

  func publish(_ message: Message, to topic: Topic) throws(Unavailable) -> Receipt {
    let event = topics.delivering {
      lastID.withLock { append(message, to: topic, after: &$0) }
    }
    return try receipt(event)
  }

  func publishAtOnce(_ message: Message, to topic: Topic) throws(Unavailable) -> Receipt? {
    try publish(message, to: topic)
  }

  /// No other event is between them.
  func publish(_ publications: [Publication]) -> [Result<Receipt, Unavailable>] {
    let events = topics.delivering {
      lastID.withLock { lastID in
        publications.map { append($0.message, to: $0.topic, after: &lastID) }
      }
    }
    return events.map { event in Result { () throws(Unavailable) in try receipt(event) } }
  }

  /// Inside the critical section.
  ///
  /// - Returns: `nil` if the server shuts down.
  private func append(
    _ message: Message, to topic: Topic, after lastID: inout EventID
  ) -> Event? {
    lastID += 1
    let event = Event(id: lastID, topic: topic, message: message)
    return topics.send(event) ? event : nil
  }

  private func receipt(_ event: Event?) throws(Unavailable) -> Receipt {
    guard let event else { throw Unavailable("the server is shutting down") }
    return Receipt(id: event.id, subscribers: topics.count(event))
  }

  func run() async throws {
    try? await gracefulShutdown()
  }

  var status: LogStatus { LogStatus(kind: "local", isConnected: true) }
}
