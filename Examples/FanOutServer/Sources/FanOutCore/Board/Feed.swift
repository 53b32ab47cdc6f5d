internal import Multicast
internal import NIOConcurrencyHelpers

/// The events of a new subscriber: first a replay, then live events.
struct Feed: Sendable {
  /// The part before the live events.
  struct Start: Sendable {
    /// Events of the topic before the replay that are missing, or may be missing.
    var gap: Gap?
    /// Kept events that the client missed.
    var replay: [Event] = []
    var place: Place
  }

  let topicReference: TopicReference
  /// The newest event of all topics at the time of the subscription; `nil` if the client already has an
  /// id, or if the newest event is unknown.
  let newest: EventID?
  private let start: NIOLockedValueBox<Start?>
  /// All events of the topic after the replay, without overlap or gap.
  let live: EventSequence<Entry>

  init(
    _ topicReference: TopicReference, newest: EventID?, _ start: Start, live: EventSequence<Entry>
  ) {
    self.topicReference = topicReference
    self.newest = newest
    self.start = NIOLockedValueBox(start)
    self.live = live
  }

  /// Takes the start out, so that it is freed before the stream ends. Call it once.
  func takeStart() -> Start {
    start.withLockedValue { start in
      guard let taken = start.take() else { fatalError("a feed begins once: make another one") }
      return taken
    }
  }
}

/// A reference to a topic, which keeps the topic in the board while a stream exists.
///
/// `deinit` releases it, so a response that is never written releases it too.
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
