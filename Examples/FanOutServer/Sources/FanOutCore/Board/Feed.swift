internal import Multicast
internal import NIOConcurrencyHelpers

/// What a new subscriber gets: first what it has missed, then what comes.
struct Feed: Sendable {
  /// The client has events that this server has not delivered yet, from another one.
  struct Ahead: Sendable {
    /// The client has all up to this one.
    var id: EventID
    /// Whether ids have begun again, so that `id` says nothing of those to come.
    let isOutdated: NIOLockedValueBox<Bool>
  }

  let seat: Seat
  /// The newest event, of whatever topic, when a client came that had none; `nil` if it had one, or
  /// if that is not known.
  let newest: EventID?
  /// Events of the topic that are missing before the replay, or may be.
  let gap: Gap?
  private let ahead: Ahead?
  private let replay: NIOLockedValueBox<[Event]>
  /// All events of the topic after the replay; none is in both, none is in neither.
  let live: EventSequence<Entry>

  init(
    _ seat: Seat, newest: EventID?, gap: Gap?, replay: [Event], ahead: Ahead?,
    live: EventSequence<Entry>
  ) {
    self.seat = seat
    self.newest = newest
    self.gap = gap
    self.ahead = ahead
    self.replay = NIOLockedValueBox(replay)
    self.live = live
  }

  /// Whether the client has `event` from another server.
  func isKnown(_ event: Event) -> Bool {
    guard let ahead, event.id <= ahead.id else { return false }
    return !ahead.isOutdated.withLockedValue { $0 }
  }

  /// What of `gap` the client is missing: it may have some from another server.
  func missing(_ gap: Gap) -> Gap? {
    guard let ahead, !ahead.isOutdated.withLockedValue({ $0 }) else { return gap }
    guard ahead.id < gap.through else { return nil }
    return Gap(after: max(gap.after, ahead.id), through: gap.through)
  }

  /// What the client is missing if events begin after `id`: nothing if it had none when it came.
  ///
  /// If it had later ones than there are, they were others, and everything may be missing.
  func missing(before id: EventID) -> Gap? {
    guard let ahead, ahead.id != id else { return nil }
    return Gap(after: ahead.id, through: id)
  }

  /// What is kept of what the client has missed. The feed gives it up: it is not to live as long as
  /// the stream.
  func takeReplay() -> [Event] {
    replay.withLockedValue { events in
      defer { events = [] }
      return events
    }
  }
}

/// A stream's place in a topic: the topic stays as long as somebody has one.
///
/// It is given back when it is dropped, so also by a response that is never written.
final class Seat: Sendable {
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
