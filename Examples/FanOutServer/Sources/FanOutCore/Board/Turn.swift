internal import NIOConcurrencyHelpers

/// A change of the event sequence of a board, and a link to the next one.
///
/// Turns form a list that grows at its end. Each stream follows it at its own pace, and turns that all
/// streams have passed are freed. So a slow stream handles all of them, although it drops events.
final class Turn: Sendable {
  enum Kind: Sendable {
    /// Ids begin after `id`. They are unrelated to earlier ids up to `last`, if there were any.
    case start(after: EventID, last: EventID?)
    /// Events that this server will never get.
    case gap(Gap)
    /// The newest event of the log is `newest`, so claims of later ones are wrong. Events up to `last`
    /// have been delivered.
    case bound(newest: EventID, last: EventID)
  }

  /// `nil` for the first one.
  let kind: Kind?
  private let successor = NIOLockedValueBox<Turn?>(nil)

  init(_ kind: Kind? = nil) {
    self.kind = kind
  }

  deinit {
    // Frees a long list in a loop: nested deinits would overflow the stack.
    var rest = takeSuccessor()
    while rest != nil, isKnownUniquelyReferenced(&rest) { rest = rest?.takeSuccessor() }
  }
}

extension Turn {
  /// Whether streams get an entry for it. Only the first start needs one, so that waiting clients get
  /// the events that they missed. No buffer has events then, so the entry drops none. All other turns
  /// take effect with the next event.
  var wakes: Bool {
    if case .start(_, nil) = kind { true } else { false }
  }

  var next: Turn? { successor.withLockedValue { $0 } }

  /// Appends `kind` to the list, of which this must be the last.
  func append(_ kind: Kind) -> Turn {
    let turn = Turn(kind)
    successor.withLockedValue { $0 = turn }
    return turn
  }

  private func takeSuccessor() -> Turn? { successor.withLockedValue { $0.take() } }
}
