internal import Multicast
internal import NIOConcurrencyHelpers

/// What a new subscriber gets: first what it has missed, then what comes.
struct Feed: Sendable {
  /// What it is given first.
  struct Start: Sendable {
    /// Events of the topic that are missing before the replay, or may be.
    var gap: Gap?
    /// What is kept of what the client has missed.
    var replay: [Event] = []
    var place: Place
  }

  let topicReference: TopicReference
  /// The newest event, of whatever topic, when a client came that had none; `nil` if it had one, or
  /// if that is not known.
  let newest: EventID?
  private let start: NIOLockedValueBox<Start?>
  /// All events of the topic after the replay; none is in both, none is in neither.
  let live: EventSequence<Entry>

  init(
    _ topicReference: TopicReference, newest: EventID?, _ start: Start, live: EventSequence<Entry>
  ) {
    self.topicReference = topicReference
    self.newest = newest
    self.start = NIOLockedValueBox(start)
    self.live = live
  }

  /// Gives up what comes first: it is not to live as long as the stream.
  func takeStart() -> Start {
    start.withLockedValue { start in
      guard let taken = start.take() else { fatalError("a feed begins once: make another one") }
      return taken
    }
  }
}

/// A stream's place in a topic: the topic stays as long as somebody has one.
///
/// It is given back when it is dropped, so also by a response that is never written.
final class TopicReference: Sendable {
  let topic: Topic
  private let board: Board

  init(_ topic: Topic, _ board: Board) {
    self.topic = topic
    self.board = board
  }

  deinit {
    Task { [topic, board] in await board.leave(topic) }
  }
}
