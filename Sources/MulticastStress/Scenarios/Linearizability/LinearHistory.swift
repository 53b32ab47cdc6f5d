/// A small history of one hub: what a few threads called, when, and with what result.
///
/// Whether there is an order of its steps that explains every result is decided by trying the orders
/// that the times allow on the sequential model: an ordered set. Everything but an invocation is one
/// step, at some moment between its call and its return. An invocation is several: first it fetches
/// the set, then it checks each delegate of it, in order, and calls it if it is still registered.
struct LinearHistory {
  /// What was called, with its result.
  enum Action: Equatable {
    /// Adds the delegate unless it is registered.
    case add(Int)
    case remove(Int, found: Bool)
    case contains(Int, found: Bool)
    /// Ends the registration that the operation with this index returned.
    case cancel(Int)
    case isActive(Int, Bool)
    /// The delegates that were called, in order.
    case invoke([Int])
  }

  struct Operation {
    var action: Action
    var began: Int
    var returned: Int
  }

  var operations: [Operation] = []

  /// Whether some order of the steps explains every result.
  var isLinearizable: Bool {
    var search = LinearSearch(operations)
    return search.succeeds()
  }

  /// A line for each operation, in the order of their calls.
  var description: String {
    operations.sorted { $0.began < $1.began }
      .map { "\($0.began)...\($0.returned) \($0.action)" }.joined(separator: "; ")
  }
}

/// Tries the orders of the steps of one history.
struct LinearSearch {
  private let operations: [LinearHistory.Operation]
  /// States from which no order of the remaining steps succeeds.
  private var deadEnds: Set<State> = []

  /// The progress of the operations, and what is registered.
  struct State: Hashable {
    /// Which operations are over, as bits.
    var over = 0
    /// The registrations, in order. A registration is named by the operation that made it.
    var entries: [Int] = []
    /// The delegate of each.
    var delegates: [Int] = []
    /// For each operation that has added: the registration it returned; otherwise -1.
    var returned: [Int]
    /// For each invocation that has begun: the registrations it has yet to check.
    var rest: [[Int]?]
    /// How many calls each invocation has made.
    var calls: [Int]
  }

  init(_ operations: [LinearHistory.Operation]) {
    self.operations = operations
  }

  mutating func succeeds() -> Bool {
    let count = operations.count
    return succeeds(
      State(
        returned: Array(repeating: -1, count: count), rest: Array(repeating: nil, count: count),
        calls: Array(repeating: 0, count: count)))
  }

  private mutating func succeeds(_ state: State) -> Bool {
    if state.over == 1 << operations.count - 1 { return true }
    if deadEnds.contains(state) { return false }
    // No step can follow the return of an operation that is not over.
    var horizon = Int.max
    for index in operations.indices where !state.isOver(index) {
      horizon = min(horizon, operations[index].returned)
    }
    for index in operations.indices
    where !state.isOver(index) && operations[index].began < horizon {
      if let next = state.after(operations[index].action, index), succeeds(next) { return true }
    }
    deadEnds.insert(state)
    return false
  }
}

extension LinearSearch.State {
  func isOver(_ operation: Int) -> Bool { over & (1 << operation) != 0 }

  /// The state after the next step of an operation, or `nil` if it cannot have its result then.
  func after(_ action: LinearHistory.Action, _ index: Int) -> Self? {
    var next = self
    switch action {
    case .invoke(let called):
      return next.step(of: index, called) ? next : nil
    case .add(let delegate):
      if let position = delegates.firstIndex(of: delegate) {
        next.returned[index] = entries[position]
      } else {
        next.returned[index] = index
        next.entries.append(index)
        next.delegates.append(delegate)
      }
    case .remove(let delegate, let found):
      let position = delegates.firstIndex(of: delegate)
      guard (position != nil) == found else { return nil }
      if let position { next.remove(at: position) }
    case .contains(let delegate, let found):
      guard delegates.contains(delegate) == found else { return nil }
    case .cancel(let addition):
      if let position = entries.firstIndex(of: returned[addition]) { next.remove(at: position) }
    case .isActive(let addition, let isActive):
      guard entries.contains(returned[addition]) == isActive else { return nil }
    }
    next.over |= 1 << index
    return next
  }

  /// The next step of an invocation.
  private mutating func step(of index: Int, _ called: [Int]) -> Bool {
    guard let left = rest[index] else {
      rest[index] = entries
      finishIfDone(index, called)
      return true
    }
    // A registration that has ended stays ended.
    guard let position = left.firstIndex(where: { entries.contains($0) }) else {
      finishIfDone(index, called)
      return isOver(index)
    }
    let delegate = delegates[entries.firstIndex(of: left[position])!]
    guard calls[index] < called.count, called[calls[index]] == delegate else { return false }
    calls[index] += 1
    rest[index] = Array(left[(position + 1)...])
    finishIfDone(index, called)
    return true
  }

  private mutating func finishIfDone(_ index: Int, _ called: [Int]) {
    guard let left = rest[index], calls[index] == called.count else { return }
    if !left.contains(where: { entries.contains($0) }) { over |= 1 << index }
  }

  private mutating func remove(at position: Int) {
    entries.remove(at: position)
    delegates.remove(at: position)
  }
}
