extension EventConsumer {
  /// The most events that are read at once.
  private static var share: Int { 256 }

  /// The next of what an iterator reads elsewhere, when events tell it to.
  ///
  /// - Parameters:
  ///   - read: returns the next of what was read.
  ///   - more: reads more, at most a number of events, after all were returned. Returns whether there is
  ///     anything to return, which `read` may skip.
  /// - Returns: `nil` if the hub has finished and everything was read, or if the task is cancelled.
  @inline(__always)
  func next<Element>(
    read: () -> Element?, more: (Int) -> Bool, isolation: isolated (any Actor)? = #isolation
  ) async -> Element? {
    if !TaskIdentity.isCurrentCancelled, let element = read() { return element }
    return await nextAfterReading(read, more)
  }

  private func nextAfterReading<Element>(
    _ read: () -> Element?, _ more: (Int) -> Bool, isolation: isolated (any Actor)? = #isolation
  ) async -> Element? {
    // A consumer that always finds an event must not monopolise its thread or actor.
    if mailbox.takeMustYield() { await Task.yield() }
    repeat {
      if let element = readMore(read, more) { return element }
    } while await next() != nil
    // The hub has finished, and everything is in the log; or the task is cancelled.
    return mailbox.end == .cancelled ? nil : readMore(read, more)
  }

  /// Reads until there is something to return.
  private func readMore<Element>(_ read: () -> Element?, _ more: (Int) -> Bool) -> Element? {
    while !TaskIdentity.isCurrentCancelled, more(Self.share) {
      if let element = read() {
        mailbox.mustYield = true
        return element
      }
    }
    return nil
  }
}
