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
  /// The most events of one critical section: other threads wait for it.
  private static let eventsAtOnce = 64

  private let topics: Topics
  private let lastID: Mutex<EventID>

  /// - Parameter id: the id before the first event.
  init(_ topics: Topics, startingAfter id: EventID) {
    self.topics = topics
    lastID = Mutex(id)
    topics.begin(after: id)
  }

  func publish(_ message: Message, to topic: Topic) throws(Unavailable) -> Receipt {
    let (event, end) = lastID.withLock { lastID in
      topics.delivering { append(message, to: topic, after: &lastID) }
    }
    end()
    return try receipt(event)
  }

  func publishAtOnce(_ message: Message, to topic: Topic) throws(Unavailable) -> Receipt? {
    try publish(message, to: topic)
  }

  /// Other events may be between them.
  func publish(_ publications: [Publication]) -> [Result<Receipt, Unavailable>] {
    var results: [Result<Receipt, Unavailable>] = []
    var rest = publications[...]
    while !rest.isEmpty {
      let (events, end) = lastID.withLock { lastID in
        topics.delivering {
          rest.prefix(Self.eventsAtOnce).map { append($0.message, to: $0.topic, after: &lastID) }
        }
      }
      end()
      rest = rest.dropFirst(Self.eventsAtOnce)
      results += events.map { event in Result { () throws(Unavailable) in try receipt(event) } }
    }
    return results
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
