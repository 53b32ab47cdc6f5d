extension DelegateCaller {
  /// The first answer that is not `nil`. The delegates after it are not called.
  ///
  /// - Parameter body: called with each delegate, on the calling thread.
  /// - Returns: the answer, or `nil` if there is none.
  /// - Throws: what `body` throws, which ends the calls.
  /// - Complexity: O(`count`).
  @inlinable
  public func firstAnswer<T, E>(_ body: (Delegate) throws(E) -> T?) throws(E) -> T? {
    var answer: T?
    try answerEach { (delegate: Delegate) throws(E) -> Bool in
      answer = try body(delegate)
      return answer == nil
    }
    return answer
  }

  /// The last answer that is not `nil`.
  ///
  /// - Parameter body: called with each delegate, on the calling thread.
  /// - Returns: the answer, or `nil` if there is none.
  /// - Throws: what `body` throws, which ends the calls.
  /// - Complexity: O(`count`).
  @inlinable
  public func lastAnswer<T, E>(_ body: (Delegate) throws(E) -> T?) throws(E) -> T? {
    var answer: T?
    try answerEach { (delegate: Delegate) throws(E) -> Bool in
      answer = try body(delegate) ?? answer
      return true
    }
    return answer
  }

  /// The answers of all delegates, joined in registration order.
  ///
  /// - Parameters:
  ///   - absent: the result without delegates.
  ///   - body: called with each delegate, on the calling thread.
  /// - Returns: the elements of the answers.
  /// - Throws: what `body` throws, which ends the calls.
  /// - Complexity: O(`count`), plus the length of the answers.
  @inlinable
  public func allAnswers<T: RangeReplaceableCollection, E>(
    default absent: @autoclosure () -> T = T(), _ body: (Delegate) throws(E) -> T
  ) throws(E) -> T {
    var answers: T?
    try answerEach { (delegate: Delegate) throws(E) -> Bool in
      let answer = try body(delegate)
      if answers == nil { answers = answer } else { answers! += answer }
      return true
    }
    return answers ?? absent()
  }

  /// Whether every delegate answers `true`. The delegates after a `false` are not called.
  ///
  /// - Parameters:
  ///   - absent: the result without delegates.
  ///   - body: called with each delegate, on the calling thread.
  /// - Returns: `false` if a delegate answers `false`.
  /// - Throws: what `body` throws, which ends the calls.
  /// - Complexity: O(`count`).
  @inlinable
  public func everyAnswer<E>(
    default absent: Bool = true, _ body: (Delegate) throws(E) -> Bool
  ) throws(E) -> Bool {
    var answer = absent
    try answerEach { (delegate: Delegate) throws(E) -> Bool in
      answer = try body(delegate)
      return answer
    }
    return answer
  }

  /// Whether a delegate answers `true`. The delegates after it are not called.
  ///
  /// - Parameters:
  ///   - absent: the result without delegates.
  ///   - body: called with each delegate, on the calling thread.
  /// - Returns: `true` if a delegate answers `true`.
  /// - Throws: what `body` throws, which ends the calls.
  /// - Complexity: O(`count`).
  @inlinable
  public func someAnswer<E>(
    default absent: Bool = false, _ body: (Delegate) throws(E) -> Bool
  ) throws(E) -> Bool {
    var answer = absent
    try answerEach { (delegate: Delegate) throws(E) -> Bool in
      answer = try body(delegate)
      return !answer
    }
    return answer
  }

  /// The sum of the answers.
  ///
  /// - Parameters:
  ///   - absent: the result without delegates.
  ///   - body: called with each delegate, on the calling thread.
  /// - Returns: the sum.
  /// - Throws: what `body` throws, which ends the calls.
  /// - Complexity: O(`count`).
  @inlinable
  public func sumOfAnswers<T: AdditiveArithmetic, E>(
    default absent: @autoclosure () -> T = .zero, _ body: (Delegate) throws(E) -> T
  ) throws(E) -> T {
    var sum: T?
    try answerEach { (delegate: Delegate) throws(E) -> Bool in
      let answer = try body(delegate)
      sum = sum.map { $0 + answer } ?? answer
      return true
    }
    return sum ?? absent()
  }

  /// The answers combined with `initial`, one after the other, in registration order.
  ///
  /// - Parameters:
  ///   - initial: what is combined with the first answer.
  ///   - combine: combines what there is with the next answer.
  ///   - body: called with each delegate, on the calling thread.
  /// - Returns: the combination; `initial` without delegates.
  /// - Throws: what `body` throws, which ends the calls.
  /// - Complexity: O(`count`) calls of `combine`.
  @inlinable
  public func reduceAnswers<T, E>(
    _ initial: T, _ combine: (T, T) -> T, _ body: (Delegate) throws(E) -> T
  ) throws(E) -> T {
    var result = initial
    try answerEach { (delegate: Delegate) throws(E) -> Bool in
      result = combine(result, try body(delegate))
      return true
    }
    return result
  }

  /// The answers and errors of all delegates.
  ///
  /// - Parameter body: called with each delegate, on the calling thread.
  /// - Returns: the answers and errors, in registration order.
  /// - Complexity: O(`count`).
  @inlinable
  public func collectAnswers<T, E>(_ body: (Delegate) throws(E) -> T) -> Answers<T, E> {
    var answers = Answers<T, E>()
    answerEach { delegate in
      do throws(E) {
        answers.append(.success(try body(delegate)))
      } catch {
        answers.append(.failure(error))
      }
      return true
    }
    return answers
  }
}

/// The answer of one delegate, if there is one, for calls that suspend. Of an optional, also of one
/// that an alias hides, it is the value that the optional wraps.
///
/// - Parameter answer: what a delegate answers.
/// - Returns: the answer, or `nil` if there is none.
@inlinable
public func presentAnswer<Answer: ~Copyable>(_ answer: consuming Answer?) -> Answer? { answer }
