import ConcurrencyStress

/// A small history of one hub: what a few threads called, when, and with what result.
typealias LinearHistory = History<HubAction>

/// What was called, with its result.
enum HubAction: Equatable, Sendable {
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

extension HubAction: DescribedCall {
  var callText: String {
    switch self {
    case .add(let delegate): "add(\(delegate))"
    case .remove(let delegate, _): "remove(\(delegate))"
    case .contains(let delegate, _): "contains(\(delegate))"
    case .cancel(let addition): "cancel(#\(addition))"
    case .isActive(let addition, _): "isActive(#\(addition))"
    case .invoke: "invoke()"
    }
  }

  var resultText: String {
    switch self {
    case .add, .cancel: ""
    case .remove(_, let found), .contains(_, let found): "\(found)"
    case .isActive(_, let isActive): "\(isActive)"
    case .invoke(let called): "\(called)"
    }
  }
}

extension History where Call == HubAction {
  /// Whether some order of the steps explains every result.
  var isLinearizable: Bool { isLinearizable(by: OrderedSet(operations: operations.count)) }
}

/// The sequential model of a hub: an ordered set.
///
/// Everything but an invocation is one step, at some moment between its call and its return. An
/// invocation is several: first it fetches the set, then it checks each delegate of it, in order,
/// and calls it if it is still registered.
struct OrderedSet: SequentialModel {
  /// The registrations, in order. A registration is named by the operation that made it.
  private var entries: [Int] = []
  /// The delegate of each.
  private var delegates: [Int] = []
  /// For each operation that has added: the registration it returned; otherwise -1.
  private var returned: [Int]
  /// For each invocation that has begun: the registrations it has yet to check.
  private var rest: [[Int]?]
  /// How many calls each invocation has made.
  private var calls: [Int]

  /// An empty set, for this number of operations.
  init(operations count: Int) {
    returned = Array(repeating: -1, count: count)
    rest = Array(repeating: nil, count: count)
    calls = Array(repeating: 0, count: count)
  }
}

extension OrderedSet {
  mutating func step(_ action: HubAction, of index: Int) -> HistoryStep {
    switch action {
    case .invoke(let called):
      return step(of: index, called)
    case .add(let delegate):
      if let position = delegates.firstIndex(of: delegate) {
        returned[index] = entries[position]
      } else {
        returned[index] = index
        entries.append(index)
        delegates.append(delegate)
      }
    case .remove(let delegate, let found):
      let position = delegates.firstIndex(of: delegate)
      guard (position != nil) == found else { return .impossible }
      if let position { remove(at: position) }
    case .contains(let delegate, let found):
      guard delegates.contains(delegate) == found else { return .impossible }
    case .cancel(let addition):
      if let position = entries.firstIndex(of: returned[addition]) { remove(at: position) }
    case .isActive(let addition, let isActive):
      guard entries.contains(returned[addition]) == isActive else { return .impossible }
    }
    return .over
  }

  /// The next step of an invocation.
  private mutating func step(of index: Int, _ called: [Int]) -> HistoryStep {
    guard let left = rest[index] else {
      rest[index] = entries
      return state(of: index, called)
    }
    // A registration that has ended stays ended.
    guard let position = left.firstIndex(where: { entries.contains($0) }) else {
      let state = state(of: index, called)
      return state == .over ? .over : .impossible
    }
    let delegate = delegates[entries.firstIndex(of: left[position])!]
    guard calls[index] < called.count, called[calls[index]] == delegate else { return .impossible }
    calls[index] += 1
    rest[index] = Array(left[(position + 1)...])
    return state(of: index, called)
  }

  /// Whether an invocation is over: it has made its calls, and has nothing to check.
  private func state(of index: Int, _ called: [Int]) -> HistoryStep {
    guard let left = rest[index], calls[index] == called.count else { return .begun }
    return left.contains(where: { entries.contains($0) }) ? .begun : .over
  }

  private mutating func remove(at position: Int) {
    entries.remove(at: position)
    delegates.remove(at: position)
  }
}
