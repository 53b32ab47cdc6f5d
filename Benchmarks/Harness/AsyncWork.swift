internal import Dispatch

/// Asynchronous work that a synchronous caller waits for.
public enum AsyncWork {
  /// Runs `body` as a task of its own on the global pool, and blocks until it has ended.
  ///
  /// - Precondition: the caller is not a task, which would block a thread of the pool.
  public static func run<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) -> Value {
    let result = Result<Value>()
    let isDone = DispatchSemaphore(value: 0)
    Task.detached {
      result.value = await body()
      isDone.signal()
    }
    isDone.wait()
    return result.value!
  }
}

private final class Result<Value: Sendable>: @unchecked Sendable {
  // Sendable: the task writes `value` before its signal, after which it is read.
  var value: Value?
}
