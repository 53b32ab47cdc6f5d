package import Multicast

/// What happened to a hub between two polls.
package struct HubChange: Sendable {
  /// The hub at the second poll.
  package let snapshot: HubSnapshot
  /// The events, or the calls of delegates, that were dropped in between, also for receivers that
  /// are gone; at the first poll, since the hub began.
  package let dropped: Int
  /// The events that were refused in between, as above.
  package let refused: Int
  /// The lines at which receivers were registered that dropped events in between, with the number.
  package let droppedByLine: [ReceiverLine: Int]
}

/// What identifies receivers over several snapshots: those that one line of the program registered.
package struct ReceiverLine: Sendable, Hashable {
  package let site: CallSite?
  package let label: String?
  package let topic: String?

  package init(of receiver: ReceiverSnapshot) {
    site = receiver.site
    label = receiver.label
    topic = receiver.topic
  }

  /// For people, as `board at App/Board.swift:12, topic news`.
  package var text: String {
    let place = site.map(\.description) ?? "unknown line"
    return (label.map { "\($0) at \(place)" } ?? place) + (topic.map { ", topic \($0)" } ?? "")
  }
}
