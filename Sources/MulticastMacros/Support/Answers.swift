/// The answers of all delegates of an invocation, in registration order.
///
/// Each function throws the first error, if there is one.
///
/// ## Thread safety
/// A value. It is `Sendable` where the answers are.
public struct Answers<Answer, Failure: Error> {
  private var answers: [Answer] = []
  private var failure: Failure?

  /// No answers.
  public init() {}

  /// Adds the answer or the error of the next delegate.
  ///
  /// - Parameter result: the answer or the error.
  public mutating func append(_ result: Result<Answer, Failure>) {
    switch result {
    case .success(let answer): answers.append(answer)
    case .failure(let error): failure = failure ?? error
    }
  }

  private func successful() throws(Failure) -> [Answer] {
    if let failure { throw failure }
    return answers
  }
}

extension Answers: Sendable where Answer: Sendable {}

extension Answers {
  /// Throws the first error.
  ///
  /// - Throws: the first error, if there is one.
  public func get() throws(Failure) where Answer == Void {
    _ = try successful()
  }

  /// The first answer.
  ///
  /// - Returns: the answer, or `nil` if there is none.
  /// - Throws: the first error, if there is one.
  @_disfavoredOverload  // With a default, the compiler would choose it for optionals too.
  public func first() throws(Failure) -> Answer? { try successful().first }

  /// The first answer that is not `nil`.
  ///
  /// - Returns: the answer, or `nil` if there is none.
  /// - Throws: the first error, if there is one.
  public func firstOfOptionals<T>() throws(Failure) -> T? where Answer == T? {
    for case let answer? in try successful() { return answer }
    return nil
  }

  /// As ``firstOfOptionals()``, for a type that an alias hides: then the macro does not see that it
  /// is an optional.
  ///
  /// - Returns: the answer, or `nil` if there is none.
  /// - Throws: the first error, if there is one.
  public func first<T>() throws(Failure) -> T? where Answer == T? { try firstOfOptionals() }

  /// The last answer.
  ///
  /// - Returns: the answer, or `nil` if there is none.
  /// - Throws: the first error, if there is one.
  @_disfavoredOverload  // With a default, the compiler would choose it for optionals too.
  public func last() throws(Failure) -> Answer? { try successful().last }

  /// The last answer that is not `nil`.
  ///
  /// - Returns: the answer, or `nil` if there is none.
  /// - Throws: the first error, if there is one.
  public func lastOfOptionals<T>() throws(Failure) -> T? where Answer == T? {
    for case let answer? in try successful().reversed() { return answer }
    return nil
  }

  /// As ``lastOfOptionals()``, for a type that an alias hides.
  ///
  /// - Returns: the answer, or `nil` if there is none.
  /// - Throws: the first error, if there is one.
  public func last<T>() throws(Failure) -> T? where Answer == T? { try lastOfOptionals() }

  /// The answers combined with `initial`, one after the other.
  ///
  /// - Parameters:
  ///   - initial: what is combined with the first answer.
  ///   - combine: combines what there is with the next answer.
  /// - Returns: the combination; `initial` if there are no answers.
  /// - Throws: the first error, if there is one.
  public func reduce(
    _ initial: Answer, _ combine: (Answer, Answer) -> Answer
  ) throws(Failure) -> Answer {
    try successful().reduce(initial, combine)
  }
}

extension Answers where Answer == Bool {
  /// Whether every answer is `true`.
  ///
  /// - Parameter absent: the result without answers.
  /// - Returns: `false` if an answer is `false`.
  /// - Throws: the first error, if there is one.
  public func every(default absent: Bool = true) throws(Failure) -> Bool {
    let answers = try successful()
    return answers.isEmpty ? absent : answers.allSatisfy { $0 }
  }

  /// Whether an answer is `true`.
  ///
  /// - Parameter absent: the result without answers.
  /// - Returns: `true` if an answer is `true`.
  /// - Throws: the first error, if there is one.
  public func some(default absent: Bool = false) throws(Failure) -> Bool {
    let answers = try successful()
    return answers.isEmpty ? absent : answers.contains(true)
  }
}

extension Answers where Answer: RangeReplaceableCollection {
  /// The answers, joined.
  ///
  /// - Parameter absent: the result without answers.
  /// - Returns: the elements of the answers, in registration order.
  /// - Throws: the first error, if there is one.
  public func all(default absent: Answer = Answer()) throws(Failure) -> Answer {
    let answers = try successful()
    return answers.isEmpty ? absent : answers.reduce(into: Answer()) { $0 += $1 }
  }
}

extension Answers where Answer: AdditiveArithmetic {
  /// The sum of the answers.
  ///
  /// - Parameter absent: the result without answers.
  /// - Returns: the sum.
  /// - Throws: the first error, if there is one.
  public func sum(default absent: Answer = .zero) throws(Failure) -> Answer {
    let answers = try successful()
    return answers.isEmpty ? absent : answers.reduce(.zero, +)
  }
}
