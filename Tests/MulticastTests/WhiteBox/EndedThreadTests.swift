#if canImport(Glibc)

  import Glibc
  import MulticastTestSupport
  import Testing

  @testable import Multicast

  // What the thread was using is leaked. So each test runs in a process of its own, which ends
  // without a check for leaks.
  @Suite("A thread that ends inside a callback")
  struct EndedThreadTests {
    private static let hubs = StorageStrategy.allCases.map {
      MulticastDelegate<any Observing>(storage: $0)
    }
    private static let delegate = RecordingObserver()
    private static let inner = MulticastDelegate<any Observing>()

    @Test("cancelAndWait does not wait for it")
    func cancelAndWaitReturns() async {
      await #expect(processExitsWith: .exitCode(42)) {
        _exit(EndedThreadTests.cancelAndWaitReturns() ? 42 : 1)
      }
    }

    private static func cancelAndWaitReturns() -> Bool {
      let registrations = hubs.map { $0.add(delegate) }
      runThread { _ in
        EndedThreadTests.nest(EndedThreadTests.hubs[...]) { pthread_exit(nil) }
        return nil
      }
      return registrations.allSatisfy { $0.cancelAndWait(timeout: .seconds(10)) }
    }

    @Test("the next thread with its call stack begins with empty frames, however deep it was")
    func callStacksAreClean() async {
      await #expect(processExitsWith: .exitCode(42)) {
        EndedThreadTests.checkNextThreads()
        _exit(42)
      }
    }

    private static func checkNextThreads() {
      inner.add(delegate)
      for _ in 0..<50 {
        runThread { _ in
          EndedThreadTests.nest(Array(repeating: EndedThreadTests.inner, count: 40)[...]) {
            pthread_exit(nil)
          }
          return nil
        }
      }
      runThreads(4) { _ in
        precondition(ThreadCallStack.current.pointee.depth == 0)
        let hub = MulticastDelegate<any Observing>()
        let observer = RecordingObserver()
        let registration = hub.add(observer)
        EndedThreadTests.nest(Array(repeating: hub, count: 40)[...]) { observer.receive(0) }
        precondition(observer.calls == 1)
        precondition(ThreadCallStack.current.pointee.depth == 0)
        precondition(registration.cancelAndWait(timeout: .seconds(10)))
      }
    }

    /// Runs `main` on a thread, and returns when that has ended.
    private static func runThread(
      _ main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
    ) {
      var thread = pthread_t()
      let error = pthread_create(&thread, nil, main, nil)
      precondition(error == 0, "pthread_create failed with error \(error)")
      pthread_join(thread, nil)
    }

    /// Invokes each of `hubs` inside the one before, and `body` inside the last.
    private static func nest(
      _ hubs: ArraySlice<MulticastDelegate<any Observing>>, _ body: () -> Void
    ) {
      guard let hub = hubs.first else { return body() }
      hub.forEach { _ in nest(hubs.dropFirst(), body) }
    }
  }

#endif
