/// The answer of an external log for which a reader waits without a task.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class ExternalAnswer<Event: Sendable>: @unchecked Sendable {
  // Sendable: `content` is accessed inside `lock` alone.

  enum Content {
    /// Whether there is an event of the position that the subscriber has named; `nil`: unknown.
    case position(Bool?)
    /// `nil`: the log does not have the events.
    case page(ExternalPage<Event>?)
  }

  /// Guards `content`, which is empty when it is set, so that nothing is destroyed inside.
  private let lock = Lock()
  private var content: Content?

  func set(_ content: Content) {
    lock.withLock { self.content = content }
  }

  func take() -> Content? {
    lock.withLock {
      let taken = content
      content = nil
      return taken
    }
  }
}
