internal import Foundation

/// A test that calls an object from two to four threads at once, and searches an order of the calls
/// that explains their results.
///
/// You give the operations of the object, and for each what it does to a sequential model. The test
/// does the rest: it calls random operations with random arguments, records when each was called
/// and returned, and checks that each history is linearizable. From a history that is not it looks
/// for a smaller one, and prints that as columns.
///
/// ```swift
/// try LinearizabilityTest({ Queue() }, model: [Int]())
///   .operation("enqueue", 1...9, { $0.enqueue($1) }, model: { $0.append($1) })
///   .operation("dequeue", { $0.dequeue() }, model: { $0.isEmpty ? nil : $0.removeFirst() })
///   .check(seconds: 5)
/// ```
///
/// ## Thread safety
/// A value. The closures that call the object run on several threads at once; those that change the
/// model, on one thread at a time.
public struct LinearizabilityTest<Subject: Sendable, Model: Hashable & Sendable>: Sendable {
  let makeSubject: @Sendable () -> Subject
  let model: Model
  private(set) var operations: [OperationKind<Subject, Model>] = []
  /// The number of threads, from 2 to 4.
  public let threads: Int
  /// The most operations of a thread in one history.
  public let operationsPerThread: Int

  /// Creates a test without operations; add them with `operation`.
  ///
  /// - Parameters:
  ///   - subject: makes the object under test. Called for each history.
  ///   - model: the sequential object that corresponds to a new subject.
  ///   - threads: the number of threads, from 2 to 4.
  ///   - operationsPerThread: the most operations of a thread in one history, from 1 to 8.
  public init(
    _ subject: @escaping @Sendable () -> Subject, model: Model, threads: Int = 2,
    operationsPerThread: Int = 3
  ) {
    require((2...4).contains(threads), "\(threads) threads: choose 2 to 4")
    require(
      (1...8).contains(operationsPerThread), "\(operationsPerThread) operations: choose 1 to 8")
    makeSubject = subject
    self.model = model
    self.threads = threads
    self.operationsPerThread = operationsPerThread
  }
}

// MARK: - Operations

extension LinearizabilityTest {
  /// Adds an operation without arguments. Errors are results: both closures must throw the
  /// same. Those that are not `Equatable` are the same if their types and their texts are.
  ///
  /// - Parameters:
  ///   - name: what a history calls it.
  ///   - call: calls the object.
  ///   - model: does the same to the model.
  /// - Returns: the test with this operation too.
  public func operation<Result: Equatable & Sendable>(
    _ name: String, _ call: @escaping @Sendable (Subject) throws -> Result,
    model: @escaping @Sendable (inout Model) throws -> Result
  ) -> Self {
    adding(
      OperationKind(
        name, arguments: [()], { subject, _ in try call(subject) },
        { values, _ in try model(&values) }))
  }

  /// Adds an operation with one argument. Errors are results: both closures must throw the
  /// same. Those that are not `Equatable` are the same if their types and their texts are.
  ///
  /// - Parameters:
  ///   - name: what a history calls it.
  ///   - arguments: the arguments to choose from.
  ///   - call: calls the object.
  ///   - model: does the same to the model.
  /// - Returns: the test with this operation too.
  public func operation<Argument: Sendable, Result: Equatable & Sendable>(
    _ name: String, _ arguments: some Sequence<Argument>,
    _ call: @escaping @Sendable (Subject, Argument) throws -> Result,
    model: @escaping @Sendable (inout Model, Argument) throws -> Result
  ) -> Self {
    adding(OperationKind(name, arguments: Array(arguments), call, model))
  }

  /// Adds an operation without arguments and without a result.
  ///
  /// - Parameters:
  ///   - name: what a history calls it.
  ///   - call: calls the object.
  ///   - model: does the same to the model.
  /// - Returns: the test with this operation too.
  public func operation(
    _ name: String, _ call: @escaping @Sendable (Subject) throws -> Void,
    model: @escaping @Sendable (inout Model) throws -> Void
  ) -> Self {
    adding(
      OperationKind(
        name, arguments: [()],
        { subject, _ in
          try call(subject)
          return Nothing()
        },
        { values, _ in
          try model(&values)
          return Nothing()
        }))
  }

  /// Adds an operation with one argument and without a result.
  ///
  /// - Parameters:
  ///   - name: what a history calls it.
  ///   - arguments: the arguments to choose from.
  ///   - call: calls the object.
  ///   - model: does the same to the model.
  /// - Returns: the test with this operation too.
  public func operation<Argument: Sendable>(
    _ name: String, _ arguments: some Sequence<Argument>,
    _ call: @escaping @Sendable (Subject, Argument) throws -> Void,
    model: @escaping @Sendable (inout Model, Argument) throws -> Void
  ) -> Self {
    adding(
      OperationKind(
        name, arguments: Array(arguments),
        { subject, argument in
          try call(subject, argument)
          return Nothing()
        },
        { values, argument in
          try model(&values, argument)
          return Nothing()
        }))
  }

  private func adding(_ operation: OperationKind<Subject, Model>) -> Self {
    var test = self
    test.operations.append(operation)
    return test
  }
}
