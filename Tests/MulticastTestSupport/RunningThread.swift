public import Dispatch

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Android)
  internal import Android
#endif

/// A thread of its own, not one of a pool. It must be joined.
public final class RunningThread: @unchecked Sendable {
  // Sendable: `thread` is written before `init` returns and then only read.
  private var thread: pthread_t?
  private let finished = DispatchSemaphore(value: 0)

  /// Starts a thread that runs `body`.
  ///
  /// - Parameter stackSize: the size of its stack in bytes, if not the usual one.
  public init(stackSize: Int? = nil, _ body: @escaping @Sendable () -> Void) {
    let finished = finished
    let main = ThreadMain {
      body()
      finished.signal()
    }
    #if canImport(Darwin) || canImport(Musl)
      var thread: pthread_t?
    #else
      var thread = pthread_t()
    #endif
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    if let stackSize {
      let error = pthread_attr_setstacksize(&attributes, stackSize)
      precondition(error == 0, "pthread_attr_setstacksize failed with error \(error)")
    }
    let error = pthread_create(
      &thread, &attributes,
      { argument in
        // Optional on some platforms, and so is the result, at which nobody looks.
        let object = (argument as UnsafeMutableRawPointer?)!
        Unmanaged<ThreadMain>.fromOpaque(object).takeRetainedValue().run()
        return argument
      }, Unmanaged.passRetained(main).toOpaque())
    precondition(error == 0, "pthread_create failed with error \(error)")
    self.thread = thread
  }

  /// Returns when the thread is gone. Traps if it has not ended at `deadline`: then it is stuck.
  public func join(deadline: DispatchTime = .now() + 2 * timeLimit) {
    guard finished.wait(timeout: deadline) == .success else {
      fatalError("a thread did not end in time: it is stuck")
    }
    pthread_join(thread!, nil)
  }
}

/// Runs `body` on `count` threads at once, with the index of each, and returns when they are gone.
///
/// Traps if they have not ended after `seconds`: then they are stuck.
public func runThreads(
  _ count: Int, seconds: Double = 2 * timeLimit, _ body: @escaping @Sendable (Int) -> Void
) {
  let threads = (0..<count).map { index in RunningThread { body(index) } }
  let deadline = DispatchTime.now() + seconds
  for thread in threads { thread.join(deadline: deadline) }
}

private final class ThreadMain {
  let run: @Sendable () -> Void

  init(_ run: @escaping @Sendable () -> Void) {
    self.run = run
  }
}

/// Lets other threads run until `condition` holds. Traps if that takes too long.
public func yield(until condition: () -> Bool) {
  let deadline = ContinuousClock.now.advanced(by: .seconds(timeLimit))
  while !condition() {
    precondition(.now < deadline, "a condition did not come true within \(timeLimit) s")
    sched_yield()
  }
}
