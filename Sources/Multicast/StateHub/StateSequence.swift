extension StateHub {
  /// A snapshot of the state, and then each update, as an asynchronous sequence.
  ///
  /// The subscription begins before this returns. See ``EventSequence`` for its end, and for
  /// several iterators.
  ///
  /// ```swift
  /// for await update in board.updates() {
  ///   switch update {
  ///   case .snapshot(let prices): copy = prices
  ///   case .change(let price): copy[price.symbol] = price.value
  ///   }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - limit: how many changes may wait. If more would, the oldest are dropped, and the
  ///     sequence has a snapshot in their place.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  /// - Returns: the sequence, whose subscription has begun.
  /// - Precondition: `limit` is at least 1.
  /// - Complexity: amortised O(1).
  public func updates(
    keepingUpTo limit: Int = .max, label: String? = nil, fileID: StaticString = #fileID,
    line: UInt = #line
  ) -> StateSequence<State, Change> {
    StateSequence(
      signals: hub.events(
        buffering: Self.buffering(limit), label: label, fileID: fileID, line: line), cell: cell)
  }

  /// The value of `field` now, and then each other value that it takes, as an asynchronous
  /// sequence.
  ///
  /// A value that equals the one before is left out. If the state changes several times before the
  /// consumer asks, the sequence has the last value only.
  ///
  /// ```swift
  /// for await total in account.values(of: \.total) { label.show(total) }
  /// ```
  ///
  /// - Parameters:
  ///   - field: computes the value from the state. The consumer calls it.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  /// - Returns: the sequence, whose subscription has begun.
  /// - Complexity: amortised O(1).
  public func values<Value: Equatable & Sendable>(
    of field: @escaping @Sendable (State) -> Value, label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> StateValues<State, Change, Value> {
    StateValues(
      signals: hub.events(buffering: Self.buffering(1), label: label, fileID: fileID, line: line),
      cell: cell, field: field)
  }
}

/// The updates of a ``StateHub`` as an asynchronous sequence, returned by
/// ``StateHub/updates(keepingUpTo:label:fileID:line:)``.
///
/// ## Thread safety
/// As ``EventSequence``.
public struct StateSequence<State: Sendable, Change: Sendable>:
  AsyncSequence, Sendable, Unreflected
{
  /// A snapshot, or a change that follows it.
  public typealias Element = StateUpdate<State, Change>
  /// An iteration throws nothing.
  public typealias Failure = Never

  let signals: EventSequence<StateSignal<State, Change>>
  let cell: StateCell<State>

  /// An iterator, which begins with a snapshot; see ``EventSequence/makeAsyncIterator()``.
  ///
  /// - Returns: the iterator.
  /// - Complexity: O(1) for the first one. Each later one subscribes, which costs what the call
  ///   that returned the sequence did.
  public func makeAsyncIterator() -> Iterator {
    Iterator(signals: signals.makeAsyncIterator(), follower: StateFollower(cell))
  }

  /// An iterator over updates.
  public struct Iterator: AsyncIteratorProtocol, Unreflected {
    let signals: EventSequence<StateSignal<State, Change>>.Iterator
    let follower: StateFollower<State, Change>

    /// See ``EventSequence/Iterator/end``.
    ///
    /// - Complexity: O(1).
    public var end: SubscriptionEnd? { signals.end }

    /// See ``EventSequence/Iterator/statistics``.
    ///
    /// - Complexity: O(1).
    public var statistics: DeliveryStatistics { signals.statistics }

    /// The next update, or `nil` at the end or if the task is cancelled.
    ///
    /// - Returns: the update, or `nil` at the end.
    /// - Complexity: amortised O(1), and the wait.
    public mutating func next() async -> Element? {
      await next(isolation: #isolation)
    }

    /// The next update, or `nil` at the end or if the task is cancelled.
    ///
    /// - Parameter actor: the isolation of the caller.
    /// - Returns: the update, or `nil` at the end.
    /// - Complexity: amortised O(1), and the wait.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      while let signal = await signals.next(isolation: actor) {
        if let update = follower.update(for: signal) { return update }
      }
      return nil
    }
  }
}

/// The values of one field of the state of a ``StateHub``, returned by
/// ``StateHub/values(of:label:fileID:line:)``.
///
/// ## Thread safety
/// As ``EventSequence``.
public struct StateValues<State: Sendable, Change: Sendable, Value: Equatable & Sendable>:
  AsyncSequence, Sendable, Unreflected
{
  /// A value of the field.
  public typealias Element = Value
  /// An iteration throws nothing.
  public typealias Failure = Never

  let signals: EventSequence<StateSignal<State, Change>>
  let cell: StateCell<State>
  let field: @Sendable (State) -> Value

  /// An iterator, which begins with the value now; see ``EventSequence/makeAsyncIterator()``.
  ///
  /// - Returns: the iterator.
  /// - Complexity: O(1) for the first one. Each later one subscribes, which costs what the call
  ///   that returned the sequence did.
  public func makeAsyncIterator() -> Iterator {
    Iterator(signals: signals.makeAsyncIterator(), cell: cell, field: field)
  }

  /// An iterator over values.
  public struct Iterator: AsyncIteratorProtocol, Unreflected {
    let signals: EventSequence<StateSignal<State, Change>>.Iterator
    let cell: StateCell<State>
    let field: @Sendable (State) -> Value
    private var last: Value?

    init(
      signals: EventSequence<StateSignal<State, Change>>.Iterator, cell: StateCell<State>,
      field: @escaping @Sendable (State) -> Value
    ) {
      self.signals = signals
      self.cell = cell
      self.field = field
    }

    /// See ``EventSequence/Iterator/end``.
    ///
    /// - Complexity: O(1).
    public var end: SubscriptionEnd? { signals.end }

    /// The next value, or `nil` at the end or if the task is cancelled.
    ///
    /// - Returns: the value, or `nil` at the end.
    /// - Complexity: O(updates since the last value) calls of the field, and the wait.
    public mutating func next() async -> Value? {
      await next(isolation: #isolation)
    }

    /// The next value, or `nil` at the end or if the task is cancelled.
    ///
    /// - Parameter actor: the isolation of the caller.
    /// - Returns: the value, or `nil` at the end.
    /// - Complexity: O(updates since the last value) calls of the field, and the wait.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Value? {
      while await signals.next(isolation: actor) != nil {
        let value = field(cell.snapshot().state)
        guard value != last else { continue }
        last = value
        return value
      }
      return nil
    }
  }
}
