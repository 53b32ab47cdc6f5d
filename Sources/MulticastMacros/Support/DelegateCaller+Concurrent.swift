internal import Synchronization

extension DelegateCaller where Delegate: Sendable {
  /// The answers and errors of all delegates, which are called at once, each by a task.
  ///
  /// - Parameters:
  ///   - arguments: passed to `body`.
  ///   - stopsAtFirstError: whether the first error cancels the other tasks, those that have not
  ///     called their delegate do not call it, and it is the one that is thrown.
  ///   - body: called with each delegate.
  /// - Returns: the answers in registration order, when all tasks have ended.
  /// - Complexity: O(`count`).
  public func concurrentAnswers<Arguments: Sendable, T: Sendable, E>(
    with arguments: Arguments, stopsAtFirstError: Bool = false,
    _ body: @escaping @Sendable (Delegate, Arguments) async throws(E) -> T
  ) async -> Answers<T, E> {
    let delegates = laterDelegates()
    let stop = stopsAtFirstError ? StopFlag() : nil
    return await withTaskGroup(
      of: (Int, Result<T, E>?).self, returning: Answers<T, E>.self
    ) { group in
      for (index, delegate) in delegates.enumerated() {
        group.addTask {
          (index, await answer(of: delegate, arguments, on: delegate.home, unless: stop, body))
        }
      }
      var answers = Answers<T, E>()
      var results = [Result<T, E>?](repeating: nil, count: delegates.count)
      for await (index, result) in group {
        results[index] = result
        if stopsAtFirstError, let result, case .failure = result {
          answers.append(result)
          group.cancelAll()
        }
      }
      for case let result? in results { answers.append(result) }
      return answers
    }
  }

  /// The answers and errors of all delegates, which are called at once, each by a task.
  ///
  /// - Parameters:
  ///   - stopsAtFirstError: as of ``concurrentAnswers(with:stopsAtFirstError:_:)``.
  ///   - body: called with each delegate.
  /// - Returns: the answers in registration order, when all tasks have ended.
  /// - Complexity: O(`count`).
  public func concurrentAnswers<T: Sendable, E>(
    stopsAtFirstError: Bool = false,
    _ body: @escaping @Sendable (Delegate) async throws(E) -> T
  ) async -> Answers<T, E> {
    // A function, because a closure with this type would not run where it is called.
    @Sendable nonisolated(nonsending) func call(_ delegate: Delegate, _: Int) async throws(E) -> T {
      try await body(delegate)
    }
    return await concurrentAnswers(with: 0, stopsAtFirstError: stopsAtFirstError, call)
  }
}

/// Tells the tasks of an invocation that one of them has failed. Not their cancellation, which may
/// be that of the caller, and comes only when that runs.
private final class StopFlag: Sendable {
  // Relaxed everywhere: it publishes nothing else.
  let isSet = Atomic(false)
}

/// The answer or error of a delegate that is called on `home`, or anywhere if that is `nil`.
///
/// - Returns: `nil` if the delegate may not be called any more, or `stop` is set.
private func answer<Delegate: Sendable, Arguments: Sendable, T: Sendable, E>(
  of delegate: LaterDelegate<Delegate>, _ arguments: Arguments, on home: isolated (any Actor)?,
  unless stop: StopFlag?, _ body: @Sendable (Delegate, Arguments) async throws(E) -> T
) async -> Result<T, E>? {
  // Only now: another child may have removed it. And here: the compiler omits the change to `home`
  // if the call of `body`, which does not make it, comes first.
  guard stop?.isSet.load(ordering: .relaxed) != true, let delegate = delegate() else { return nil }
  do throws(E) {
    return .success(try await body(delegate, arguments))
  } catch {
    stop?.isSet.store(true, ordering: .relaxed)
    return .failure(error)
  }
}
