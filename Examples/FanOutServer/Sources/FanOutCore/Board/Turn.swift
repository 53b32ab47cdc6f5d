internal import NIOConcurrencyHelpers

/// Something that has happened to the events of a board, and what happened after it.
///
/// The turns of a board are a list that grows at its end. Every stream goes along it at its own
/// pace; what all have passed is gone. So none is missed by a stream that is too slow for events.
final class Turn: Sendable {
  enum Kind: Sendable {
    /// Ids begin after `id`. They have nothing to do with those up to `last`, if there were any.
    case start(after: EventID, last: EventID?)
    /// Events that this server will never have.
    case gap(Gap)
    /// The log's newest event is `newest`: claims of later ones are wrong. Those up to `last` have
    /// been delivered.
    case bound(newest: EventID, last: EventID)
  }

  /// `nil` where the list begins.
  let kind: Kind?
  private let successor = NIOLockedValueBox<Turn?>(nil)

  init(_ kind: Kind? = nil) {
    self.kind = kind
  }

  deinit {
    // A long list goes one after the other, and not each inside of the one before.
    var rest = takeSuccessor()
    while rest != nil, isKnownUniquelyReferenced(&rest) { rest = rest?.takeSuccessor() }
  }
}

extension Turn {
  /// Whether streams get an entry because of it: when the first events begin, so that clients which
  /// have waited get what they have missed. No event waits for a stream then, and none is in the
  /// way. Everything else matters to nobody before the next event.
  var wakes: Bool {
    if case .start(_, nil) = kind { true } else { false }
  }

  var next: Turn? { successor.withLockedValue { $0 } }

  /// Puts `kind` at the end of the list, of which this is the last.
  func append(_ kind: Kind) -> Turn {
    let turn = Turn(kind)
    successor.withLockedValue { $0 = turn }
    return turn
  }

  private func takeSuccessor() -> Turn? { successor.withLockedValue { $0.take() } }
}
