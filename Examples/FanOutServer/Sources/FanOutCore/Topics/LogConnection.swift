internal import Multicast
internal import NIOConcurrencyHelpers

/// The external log of the hub: asks the ``EventLog`` of the server.
///
/// The hub is there before the log, which gets the topics.
final class LogConnection: ExternalLog {
  private let state = NIOLockedValueBox<(log: (any EventLog)?, writer: ExternalLogWriter<Event>?)>(
    (nil, nil))

  var log: (any EventLog)? {
    get { state.withLockedValue(\.log) }
    set { state.withLockedValue { $0.log = newValue } }
  }

  /// Set while the hub is created.
  var writer: ExternalLogWriter<Event>? {
    get { state.withLockedValue(\.writer) }
    set { state.withLockedValue { $0.writer = newValue } }
  }

  /// - Parameter topics: one name: that is all to which a stream subscribes.
  func page(
    of topics: [String], after position: EventPosition, through last: UInt64
  ) async -> ExternalPage<Event>? {
    guard topics.count == 1, let topic = try? Topic(topics[0], limit: .max),
      let page = await log?.page(of: topic, after: position.number, through: last)
    else { return nil }
    return ExternalPage(
      page.events.map { .init(topic: topics[0], event: $0, number: $0.id) },
      through: page.through)
  }

  func contains(_ position: EventPosition) async -> Bool? {
    guard let log else { return false }
    return switch await log.arrival(of: position.number) {
    case .notExpected: false
    case .expected: true
    case .unknown: nil
    }
  }
}
