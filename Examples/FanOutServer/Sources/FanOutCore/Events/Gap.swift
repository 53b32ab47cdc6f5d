/// A range of ids of events that are missing, or may be missing.
struct Gap: Sendable, Hashable {
  /// The last id before the gap.
  var after: EventID
  /// The last id of the gap.
  var through: EventID
}
