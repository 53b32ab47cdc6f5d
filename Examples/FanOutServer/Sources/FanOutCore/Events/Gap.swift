/// Events that are missing somewhere, or may be.
struct Gap: Sendable, Hashable {
  /// The last one that is there.
  var after: EventID
  var through: EventID
}
