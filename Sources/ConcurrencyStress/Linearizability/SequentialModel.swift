/// What a concurrent object must look like to its callers: an object that does one step at a time.
///
/// A ``History`` is linearizable by a model if some order of the steps of its operations, each
/// between the call and the return of its operation, explains every result. Most operations are one
/// step; one that is known to be several (an iteration that checks each element in turn) returns
/// ``HistoryStep/begun`` after each but the last.
///
/// ## Thread safety
/// A value; the search copies it at each step.
public protocol SequentialModel: Hashable, Sendable {
  /// What was called, with its result.
  associatedtype Action: Sendable

  /// Does the next step of an operation.
  ///
  /// - Parameters:
  ///   - action: what was called, with its result.
  ///   - operation: the index of the operation in the history.
  /// - Returns: whether the operation is over, has further steps, or cannot have its result now. In
  ///   the last case the model is not used any more.
  mutating func step(_ action: Action, of operation: Int) -> HistoryStep

  /// The result that this operation would have now, for a report, or `nil` if that is not known.
  ///
  /// - Parameter action: the operation.
  /// - Returns: the result in words, or `nil`.
  func expectedResult(of action: Action) -> String?
}

extension SequentialModel {
  /// Says that the result is not known.
  ///
  /// - Parameter action: the operation.
  /// - Returns: the result in words, or `nil`.
  public func expectedResult(of action: Action) -> String? { nil }
}

/// What a step of a ``SequentialModel`` did.
///
/// ## Thread safety
/// A value: any thread may use its copy.
public enum HistoryStep: Sendable {
  /// The operation cannot have its result now.
  case impossible
  /// The operation has further steps.
  case begun
  /// The operation is over, with its result.
  case over
}
