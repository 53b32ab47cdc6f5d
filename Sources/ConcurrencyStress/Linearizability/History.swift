/// What a few threads called, when, and with what result.
///
/// ## Thread safety
/// A value.
public struct History<Call: Sendable>: Sendable {
  /// What was called, with its result.
  public typealias Action = Call

  /// One call of one thread.
  public struct Operation: Sendable {
    /// What was called, with its result.
    public var action: Action
    /// The thread, from 0.
    public var thread: Int
    /// When it was called, by a ``LogicalClock``.
    public var began: Int
    /// When it returned, by the same clock.
    public var returned: Int

    /// Creates an operation with its times.
    ///
    /// - Parameters:
    ///   - action: what was called, with its result.
    ///   - began: when it was called, by a ``LogicalClock``.
    ///   - returned: when it returned, by the same clock.
    ///   - thread: the thread, from 0.
    public init(action: Action, began: Int, returned: Int, thread: Int = 0) {
      self.action = action
      self.began = began
      self.returned = returned
      self.thread = thread
    }
  }

  /// The operations, in any order.
  public var operations: [Operation]

  /// Creates a history.
  ///
  /// - Parameter operations: the operations, in any order.
  public init(operations: [Operation] = []) {
    self.operations = operations
  }
}

extension History {
  /// Whether some order of the steps of its operations explains every result.
  ///
  /// - Parameter model: the state before the first operation.
  /// - Returns: `false` if no order does.
  /// - Precondition: there are at most 64 operations.
  /// - Complexity: exponential in the number of operations that overlap, in the worst case.
  public func isLinearizable<Model: SequentialModel>(by model: Model) -> Bool
  where Model.Action == Action {
    var search = HistorySearch<Model>(operations)
    return search.succeeds(from: model)
  }

  /// The order of steps that explains the most results, and what each of the remaining operations
  /// would have returned then; or `nil` if the history is linearizable.
  func contradiction<Model: SequentialModel>(
    with model: Model
  ) -> (order: [Int], expected: [(operation: Int, result: String)])?
  where Model.Action == Action {
    var search = HistorySearch<Model>(operations)
    guard !search.succeeds(from: model) else { return nil }
    let deepest = search.deepest ?? (order: [], model: model, candidates: [])
    return (
      deepest.order,
      deepest.candidates.compactMap { index in
        deepest.model.expectedResult(of: operations[index].action).map { (index, $0) }
      }
    )
  }
}

/// Tries the orders of the steps of one history, as Wing and Gong did, with Lowe's memory of the
/// states from which no order succeeds.
struct HistorySearch<Model: SequentialModel> {
  private let operations: [History<Model.Action>.Operation]
  /// States from which no order of the remaining steps succeeds.
  private var deadEnds: Set<State> = []
  /// The operations of the current order that are over.
  private var order: [Int] = []
  /// The longest such order, the model after it, and the operations that were tried then.
  private(set) var deepest: (order: [Int], model: Model, candidates: [Int])?

  /// Which operations are over, as bits, and what the model says.
  private struct State: Hashable {
    var over: UInt64 = 0
    var model: Model
  }

  init(_ operations: [History<Model.Action>.Operation]) {
    require(
      operations.count <= 64, "a history of \(operations.count) operations: at most 64 are searched"
    )
    self.operations = operations
  }

  mutating func succeeds(from model: Model) -> Bool {
    succeeds(State(model: model))
  }

  private mutating func succeeds(_ state: State) -> Bool {
    if order.count == operations.count { return true }
    if deadEnds.contains(state) { return false }
    // No step can follow the return of an operation that is not over.
    var horizon = Int.max
    for index in operations.indices where state.over & 1 << index == 0 {
      horizon = min(horizon, operations[index].returned)
    }
    var candidates: [Int] = []
    for index in operations.indices
    where state.over & 1 << index == 0 && operations[index].began < horizon {
      candidates.append(index)
      var next = state
      switch next.model.step(operations[index].action, of: index) {
      case .impossible: continue
      case .begun:
        if succeeds(next) { return true }
      case .over:
        next.over |= 1 << index
        order.append(index)
        if succeeds(next) { return true }
        order.removeLast()
      }
    }
    if order.count >= (deepest?.order.count ?? 0) { deepest = (order, state.model, candidates) }
    deadEnds.insert(state)
    return false
  }
}
