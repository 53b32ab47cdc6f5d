/// Passes the events of an ``ExternalLog`` to its hub; see
/// ``TopicHub/init(retention:total:ordering:storage:name:log:)``.
///
/// It does not retain the hub: after the hub is gone, its functions do nothing.
///
/// ## Thread safety
/// Every function may be called from any thread, one call at a time: the order of the calls is the
/// order of the log.
public struct ExternalLogWriter<Event: Sendable>: Sendable, Unreflected {
  private let target = Target()

  private final class Target: @unchecked Sendable {
    // Sendable: set before the log gets the writer, and only read from then on.
    weak var hub: TopicHub<String, Event>?
  }

  init(_ hub: TopicHub<String, Event>) {
    target.hub = hub
  }
}

extension ExternalLogWriter {
  /// Begins, or begins anew: the next event has a number above `number`.
  ///
  /// What the hub retained is not valid any more, and is removed. A subscriber receives the range
  /// from its position to the beginning as missed, unless it has come as far in the same epoch; and
  /// except at the first beginning: then one that named a position receives the events after it
  /// from the log. Does nothing after the hub has finished.
  ///
  /// - Parameters:
  ///   - epoch: identifies the log and its beginning, not 0: for example, when the stream was
  ///     created.
  ///   - number: that of the newest event of the log, or 0 if it has none. A position above it that
  ///     ``ExternalLog/contains(_:)`` has not confirmed is refused. The log alone has the events up
  ///     to there. Those above it are delivered next: a subscriber does not ask the log
  ///     for them unless the hub has received and removed them.
  /// - Precondition: `epoch` is not 0, and the hub has received or skipped no event with a higher
  ///   number in the same epoch, unless it has finished: those numbers would belong to two events.
  /// - Complexity: O(retained events and subscribers with positions).
  public func begin(epoch: UInt64, after number: UInt64) {
    require(epoch != 0, "Multicast: an epoch of an external log is not 0; use another number.")
    target.hub?.beginExternal(epoch: epoch, after: number)
  }

  /// Retains an event of the log, and delivers it to the subscribers.
  ///
  /// - Parameters:
  ///   - event: the event.
  ///   - topic: the name of its topic.
  ///   - number: its number in the log. Events of other topics, or none, may have the numbers
  ///     between.
  /// - Returns: as ``TopicHub/send(_:to:)``; `nil`, and nothing was done, if `number` is not higher
  ///   than all before, if ``begin(epoch:after:)`` was not called, or if the hub has finished or is
  ///   gone.
  /// - Complexity: as ``TopicHub/send(_:to:)``.
  @discardableResult
  public func deliver(_ event: Event, to topic: String, number: UInt64) -> Int? {
    target.hub?.deliverExternal(event, to: topic, number: number)
  }

  /// Continues after `number`, because the log does not have the events up to it any more.
  ///
  /// Subscribers receive the range as missed, at its place. Those that come later get the events
  /// before the range from the log only, or as missed, although the hub may still retain some: the
  /// log may have lost them too, and other processes say the same. Does nothing if `number` is not
  /// higher than all before, or if the hub has finished.
  ///
  /// - Parameter number: that of the last event that the log does not have.
  /// - Complexity: O(subscribers with positions).
  public func skip(through number: UInt64) {
    target.hub?.skipExternal(through: number)
  }

  /// Marks the positions that subscribers have named so far, for
  /// ``refusePositions(after:namedBefore:)``.
  ///
  /// - Returns: the mark, also if the hub has finished or is gone.
  /// - Complexity: O(1).
  public func markPositions() -> PositionMark {
    PositionMark(writer: target, number: target.hub?.markExternal() ?? 0)
  }

  /// Refuses the positions above `newest` that subscribers named before the mark: the log had no
  /// such events.
  ///
  /// Call it when the log can be reached again, after ``begin(epoch:after:)``. First set the mark,
  /// then read the number of the newest event of the log: another process may add an event at any
  /// time, and a subscriber may have received it there before it comes here and names its position.
  /// Deliver nothing from the time at which the log can be reached again until this call: an event
  /// with a number confirms the positions up to it. Use marks in their order.
  ///
  /// A subscriber with a position that is refused receives the range as missed, and then each event
  /// that the hub has received since. One that has not read since then finds the refusal when it
  /// reads, if it is one of the newest 256, of which those that a later one includes do not count.
  ///
  /// ```swift
  /// func checkPositions(
  ///   _ writer: ExternalLogWriter<String>, newestNumber: () async throws -> UInt64
  /// ) async throws {
  ///   let mark = writer.markPositions()
  ///   let newest = try await newestNumber()
  ///   writer.refusePositions(after: newest, namedBefore: mark)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - newest: the number of the newest event of the log at a time after the mark.
  ///   - mark: one of this writer.
  /// - Precondition: `mark` is of this writer, or of a copy of it.
  /// - Complexity: O(subscribers with positions).
  public func refusePositions(after newest: UInt64, namedBefore mark: PositionMark) {
    require(
      mark.writer === target,
      "Multicast: the mark is of another writer; use one of markPositions() of this writer."
    )
    target.hub?.refuseExternal(after: newest, namedBefore: mark.number)
  }
}

/// Which positions subscribers had named at a time; see ``ExternalLogWriter/markPositions()``.
///
/// It retains neither the hub nor the log.
///
/// ## Thread safety
/// It never changes.
public struct PositionMark: Sendable {
  let writer: any AnyObject & Sendable
  let number: Int
}
