extension EntryHandle {
  /// See ``Registration/isBlocked``.
  var isBlocked: Bool { state & EntryHead.blocked != 0 }

  /// See ``Registration/block()``.
  func block() { entry?.block(registry.extras) }

  /// See ``Registration/unblock()``.
  func unblock() {
    if let entry {
      entry.unblock(registry.extras)
    } else {
      BlockCounts.shared.forget(address)
    }
  }

  /// See ``Registration/withBlocked(_:)``.
  func withBlocked<R: ~Copyable, E>(_ body: () throws(E) -> R) throws(E) -> R {
    block()
    defer { unblock() }
    return try body()
  }

  /// See ``Registration/withBlocked(_:)``.
  nonisolated(nonsending) func withBlocked<R: ~Copyable, E>(
    _ body: nonisolated(nonsending) () async throws(E) -> R
  ) async throws(E) -> R {
    block()
    defer { unblock() }
    return try await body()
  }
}
