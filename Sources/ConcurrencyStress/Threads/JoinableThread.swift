internal import Foundation

/// A thread of the C library. It must be joined, once.
struct JoinableThread: @unchecked Sendable {
  // Sendable: it never changes.
  private let thread: pthread_t

  /// Starts a thread that runs `body`.
  ///
  /// - Parameter stackSize: the size of its stack in bytes; the usual one if `nil`.
  init(stackSize: Int? = nil, _ body: @escaping @Sendable () -> Void) {
    #if canImport(Darwin) || canImport(Musl)
      var thread: pthread_t?
    #else
      var thread = pthread_t()
    #endif
    // Not a variable: on Linux, the compiler finds no module that declares `pthread_attr_t.init`.
    let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
    pthread_attr_init(attributes)
    defer {
      pthread_attr_destroy(attributes)
      attributes.deallocate()
    }
    if let stackSize {
      let error = pthread_attr_setstacksize(attributes, stackSize)
      require(error == 0, "pthread_attr_setstacksize failed with error \(error)")
    }
    let error = pthread_create(
      &thread, attributes,
      { argument in
        // Optional on some platforms, and so is the result, which is not used.
        let object = (argument as UnsafeMutableRawPointer?)!
        // SAFETY: balances `passRetained` below; the thread starts once.
        let main = Unmanaged<ThreadMain>.fromOpaque(object).takeRetainedValue()
        SignalStack.install()
        main.run()
        return argument
      }, Unmanaged.passRetained(ThreadMain(body)).toOpaque())
    require(error == 0, "pthread_create failed with error \(error)")
    #if canImport(Darwin) || canImport(Musl)
      self.thread = thread!
    #else
      self.thread = thread
    #endif
  }

  /// Returns when the thread is gone.
  func join() {
    pthread_join(thread, nil)
  }
}

private final class ThreadMain {
  let run: @Sendable () -> Void

  init(_ run: @escaping @Sendable () -> Void) {
    self.run = run
  }
}
