package import Multicast

/// What the hubs of a directory looked like at the last poll.
package struct HubHistory: Sendable {
  private struct Record: Sendable {
    // Beside the identity in the table: a later object may have the same address.
    weak var hub: (any InspectableHub & Sendable)?
    var dropped: Int
    var refused: Int
    var droppedByLine: [ReceiverLine: Int]
  }

  private let directory: HubDirectory
  private var records: [ObjectIdentifier: Record] = [:]

  package init(of directory: HubDirectory) {
    self.directory = directory
  }

  /// Reads every hub, and forgets those that are gone.
  ///
  /// - Returns: what has happened since the last call, for each hub.
  /// - Complexity: O(receivers of all hubs).
  package mutating func poll() -> [HubChange] {
    records = records.filter { $0.value.hub != nil }
    var changes: [HubChange] = []
    var seen: Set<ObjectIdentifier> = []
    // A hub may be in a directory more than once.
    for hub in directory.hubs where seen.insert(ObjectIdentifier(hub)).inserted {
      changes.append(change(of: hub))
    }
    return changes
  }

  private mutating func change(of hub: any InspectableHub & Sendable) -> HubChange {
    let snapshot = hub.snapshot
    // Not the record of a hub that has gone since the records were read, and had this address.
    let last = records[ObjectIdentifier(hub)].flatMap { $0.hub === hub ? $0 : nil }
    var droppedByLine: [ReceiverLine: Int] = [:]
    for receiver in snapshot.receivers {
      let dropped = receiver.statistics?.dropped ?? 0
      if dropped > 0 { droppedByLine[ReceiverLine(of: receiver), default: 0] += dropped }
    }
    records[ObjectIdentifier(hub)] = Record(
      hub: hub, dropped: snapshot.dropped, refused: snapshot.refused, droppedByLine: droppedByLine)
    let increases = droppedByLine.map { line, dropped in
      (line, dropped - (last?.droppedByLine[line] ?? 0))
    }.filter { $0.1 > 0 }
    return HubChange(
      snapshot: snapshot, dropped: max(0, snapshot.dropped - (last?.dropped ?? 0)),
      refused: max(0, snapshot.refused - (last?.refused ?? 0)),
      droppedByLine: Dictionary(uniqueKeysWithValues: increases))
  }
}
