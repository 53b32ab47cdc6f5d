#if canImport(Glibc)

  import Glibc
  import MulticastTestSupport
  import Testing

  @testable import Multicast

  @Suite("A thread that ends inside a callback", .serialized)
  struct EndedThreadTests {
    // What the thread was using leaks a retain. It stays reachable here, so that no leak is reported.
    private static let hubs = StorageStrategy.allCases.map {
      MulticastDelegate<any Observing>(storage: $0)
    }
    private static let delegate = RecordingObserver()
    private static let inner = MulticastDelegate<any Observing>()

    /// Runs `main` on a thread, and returns when that has ended.
    private func runThread(
      _ main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
    ) {
      var thread = pthread_t()
      let error = pthread_create(&thread, nil, main, nil)
      precondition(error == 0, "pthread_create failed with error \(error)")
      pthread_join(thread, nil)
    }

    @Test("cancelAndWait does not wait for it")
    func cancelAndWaitReturns() {
      let registrations = Self.hubs.map { $0.add(Self.delegate) }
      runThread { _ in
        EndedThreadTests.nest(EndedThreadTests.hubs[...]) { pthread_exit(nil) }
        return nil
      }
      for registration in registrations {
        #expect(registration.cancelAndWait(timeout: .seconds(10)))
      }
    }

    @Test("the next thread with its records begins with empty ones, however deep it was")
    func recordsAreClean() {
      Self.inner.add(Self.delegate)
      for _ in 0..<50 {
        runThread { _ in
          EndedThreadTests.nest(Array(repeating: EndedThreadTests.inner, count: 40)[...]) {
            pthread_exit(nil)
          }
          return nil
        }
      }
      runThreads(4) { _ in
        #expect(ThreadCallStack.current.pointee.depth == 0)
        let hub = MulticastDelegate<any Observing>()
        let observer = RecordingObserver()
        let registration = hub.add(observer)
        EndedThreadTests.nest(Array(repeating: hub, count: 40)[...]) { observer.receive(0) }
        #expect(observer.calls == 1)
        #expect(ThreadCallStack.current.pointee.depth == 0)
        #expect(registration.cancelAndWait(timeout: .seconds(10)))
      }
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
