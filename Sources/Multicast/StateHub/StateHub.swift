/// Keeps a state, applies changes to it in one order, and tells each subscriber the state and then
/// every change.
///
/// ```swift
/// let board = StateHub([Symbol: Double]()) { (prices: inout [Symbol: Double], price: Price) in
///   prices[price.symbol] = price.value
/// }
///
/// let subscription = board.subscribe { update in
///   switch update {
///   case .snapshot(let prices): table.show(prices)   // first, and after changes that were dropped
///   case .change(let price): table.show(price)
///   }
/// }
///
/// board.apply(Price("tea", 42))   // from any thread
/// board.value["tea"]              // 42
/// ```
///
/// Whenever nothing is under way, a subscriber that replaces its state by each snapshot, and
/// applies each change, has the state of the hub: for every buffer size, however late it
/// subscribed, and whatever it did not receive. A full buffer drops its oldest changes, and the
/// subscriber gets a new snapshot in their place. One that was blocked gets a snapshot after the
/// block, if the state has changed.
///
/// ## Thread safety
/// Every operation may be called from any thread, also from inside a handler. No lock is held while
/// user code runs. The reducer runs on one thread at a time, the one that delivers.
public final class StateHub<State: Sendable, Change: Sendable>: Sendable, Unreflected {
  @usableFromInline typealias Signal = StateSignal<State, Change>

  @usableFromInline let cell: StateCell<State>
  @usableFromInline let hub: EventHub<Signal>

  /// Creates a hub with a state.
  ///
  /// - Parameters:
  ///   - initialState: the state before the first change.
  ///   - storage: how the hub stores its subscribers.
  ///   - name: identifies the hub in descriptions and messages.
  ///   - reducer: folds a change into the state. It runs once for each change, on the thread that
  ///     delivers, with the only reference to the state: a change in place copies nothing unless a
  ///     snapshot is in use. It must not read the state of this hub, nor wait for a thread that
  ///     does. After ``finish()`` a new subscription without a buffer reads it at once.
  /// - Complexity: O(1).
  @inlinable
  public init(
    _ initialState: State, storage: StorageStrategy = .waitFree, name: String? = nil,
    reducer: @escaping @Sendable (inout State, Change) -> Void
  ) {
    let cell = StateCell(initialState, name: name)
    self.cell = cell
    hub = Self.makeHub(storage, name, EventHub<Signal>.delivery) { signal, number in
      switch signal {
      case .change(let change, _):
        cell.fold(number) { reducer(&$0, change) }
        return .change(change, version: number)
      case .edit(let edit):
        cell.fold(number, edit)
        return .edited(version: number)
      case .refresh, .edited:
        return signal
      }
    }
  }

  /// The hub that delivers the signals.
  ///
  /// - Parameter fold: folds what a signal says into the state, and returns the signal to deliver.
  @usableFromInline
  static func makeHub(
    _ storage: StorageStrategy, _ name: String?, _ delivery: @escaping EventHub<Signal>.Delivery,
    fold: @escaping @Sendable (Signal, _ number: UInt64) -> Signal
  ) -> EventHub<Signal> {
    let state = OpeningState<Signal>(name, firstEvent: .refresh)
    let hub = EventHub(
      ordering: .total, storage: storage, delivery: delivery,
      opening: EventOpening(firstEvent: .refresh, prepare: fold), state: state)
    state.begin(hub)
    return hub
  }
}

// MARK: - State

extension StateHub {
  /// The state, with every change that was applied and delivered so far.
  ///
  /// After ``apply(_:)`` has returned, and no other thread applies, this has the change. While a
  /// change is being folded in, the caller waits until the reducer returns, and for no later
  /// change. It stays after ``finish()``.
  ///
  /// - Precondition: not called inside the reducer.
  /// - Complexity: O(1): a copy of a value, which shares its storage.
  public var value: State { cell.snapshot().state }

  /// Folds `change` into the state, and sends it to every subscriber.
  ///
  /// If another thread is delivering, or this is called inside a handler, the change is left to
  /// that delivery, and this returns before it is folded. After ``finish()`` the change is refused,
  /// and the state stays as it is.
  ///
  /// - Parameter change: what the reducer and the subscribers receive.
  /// - Returns: as ``EventHub/send(_:)`` in a hub with one order.
  /// - Complexity: O(subscribers), and the reducer.
  @inlinable @discardableResult
  public func apply(_ change: Change) -> Int {
    hub.send(.change(change, version: 0))
  }

  /// Changes the state in place, and sends each subscriber a snapshot.
  ///
  /// For changes that no `Change` describes, such as a reload. It has a place in the order of the
  /// changes, as ``apply(_:)`` has.
  ///
  /// - Parameter body: changes the state, as the reducer does.
  /// - Returns: as ``apply(_:)``.
  /// - Complexity: O(subscribers), and `body`.
  @discardableResult
  public func update(_ body: @escaping @Sendable (inout State) -> Void) -> Int {
    hub.send(.edit(body))
  }

  /// Finishes the hub: it accepts no more changes. Subscribers receive the updates that wait, and
  /// end; later ones receive a snapshot, and end. See ``EventHub/finish()``.
  ///
  /// - Complexity: O(subscribers).
  public func finish() { hub.finish() }

  /// Finishes the hub with an error, as ``finish()`` does without one. See
  /// ``EventHub/finish(throwing:)``.
  ///
  /// - Parameter error: why the hub ends.
  /// - Complexity: O(subscribers).
  public func finish(throwing error: any Error) { hub.finish(throwing: error) }

  /// The error with which the hub has finished; see ``EventHub/failure``.
  ///
  /// - Complexity: O(1).
  public var failure: (any Error)? { hub.failure }

  /// Returns when every change that was applied before has been handled by every subscriber. See
  /// ``EventHub/flush()``.
  ///
  /// - Complexity: O(subscribers), and the wait.
  public func flush() async { await hub.flush() }

  /// As ``flush()``, but blocks the thread. See ``EventHub/flush(timeout:)``.
  ///
  /// - Parameter timeout: how long to wait at most.
  /// - Returns: whether every change has been handled.
  /// - Complexity: O(subscribers), and the wait.
  @available(*, noasync, message: "use the async flush() instead of blocking the thread")
  @discardableResult
  public func flush(timeout: Duration) -> Bool { hub.flush(timeout: timeout) }
}

extension StateHub: CustomStringConvertible {
  /// The types, the name if there is one, the number of subscribers and the storage strategy.
  ///
  /// - Complexity: O(subscribers).
  public var description: String {
    """
    StateHub<\(State.self), \(Change.self)>(\(nameField(hub.name))subscribers: \(subscriberCount), \
    storage: \(hub.registry.strategy.rawValue))
    """
  }
}
