internal import Dispatch

/// Asynchronous work that a synchronous caller waits for.
public enum AsyncWork {
  /// Runs `body` as a task of its own on the global pool, and blocks until it has ended.
  ///
  /// - Precondition: the caller is not a task: it would keep a thread of the pool.
  public static func run<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) -> Value {
    let place = Place<Value>()
    let isDone = DispatchSemaphore(value: 0)
    Task.detached {
      place.value = await body()
      isDone.signal()
    }
    isDone.wait()
    return place.value!
  }
}

private final class Place<Value: Sendable>: @unchecked Sendable {
  // Sendable: `value` is written by the task, and read after its signal.
  var value: Value?
}
