/// The subscribers with the same patterns, as a ``PatternIndex`` knows them.
///
/// ## Thread safety
/// As declared at each property.
class PatternTarget: @unchecked Sendable {
  // Sendable: see "Thread safety".

  /// Never changes.
  final let patterns: Set<TopicPattern>
  /// What a search returns; the target keeps it alive.
  var subject: Unmanaged<AnyObject> { .passUnretained(self) }
  /// One for each pattern. Under the lock of the index.
  final var memberships: [PatternMembership] = []
  /// The subscribers, and the threads that are subscribing. Under the lock of the index.
  final var users = 0

  init(_ patterns: Set<TopicPattern>) {
    self.patterns = patterns
  }
}
