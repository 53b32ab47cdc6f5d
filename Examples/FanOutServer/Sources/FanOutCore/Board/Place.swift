/// The position of a stream in the turns of its board, and the future events that its client has.
struct Place: Sendable {
  /// The client has events from another server that this one has not delivered yet.
  struct Ahead {
    /// The client has all events up to this one.
    var id: EventID
    /// Whether this is a claim of the client that the log has not confirmed.
    var isClaim: Bool
  }

  /// Events that the client does not have.
  enum Missing: Hashable {
    /// They are not available any more.
    case gone(Gap)
    /// The log may have them.
    case unknown(Gap)
  }

  /// The last turn that the stream has handled.
  private(set) var turn: Turn
  private var ahead: Ahead?

  init(_ turn: Turn, _ ahead: Ahead? = nil) {
    self.turn = turn
    self.ahead = ahead
  }
}

extension Place {
  /// Whether the client has `event` already.
  func has(_ event: Event) -> Bool {
    guard let ahead else { return false }
    return event.id <= ahead.id
  }

  /// Handles all turns up to `last`.
  ///
  /// - Returns: the number of turns with an entry, and the events that the client lacks because of
  ///   them.
  mutating func advance(to last: Turn) -> (entries: Int, missing: [Missing]) {
    var entries = 0
    var missing: [Missing] = []
    while turn !== last, let next = turn.next {
      turn = next
      if next.wakes { entries += 1 }
      if let gap = pass(next) { missing.append(gap) }
    }
    return (entries, missing)
  }

  private mutating func pass(_ turn: Turn) -> Missing? {
    switch turn.kind {
    case .start(let id, let last): return begin(after: id, last)
    case .gap(let gap): return missing(gap).map(Missing.gone)
    case .bound(let newest, let last):
      // The claim was wrong, so it does not tell which events the client has.
      guard let ahead, ahead.isClaim, ahead.id > newest else { return nil }
      self.ahead = nil
      return .gone(Gap(after: ahead.id, through: last))
    case nil: return nil
    }
  }

  private mutating func begin(after id: EventID, _ last: EventID?) -> Missing? {
    guard let last else {
      // The first events of this server. A client without an id lacks none.
      guard let ahead, ahead.isClaim || ahead.id < id else { return nil }
      self.ahead = nil
      return ahead.id == id ? nil : .unknown(Gap(after: ahead.id, through: id))
    }
    defer { ahead = nil }
    return .gone(Gap(after: max(ahead?.id ?? 0, last), through: id))
  }

  private func missing(_ gap: Gap) -> Gap? {
    guard let ahead else { return gap }
    guard ahead.id < gap.through else { return nil }
    return Gap(after: max(gap.after, ahead.id), through: gap.through)
  }
}
