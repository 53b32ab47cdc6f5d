#if os(Linux) && canImport(Glibc) && (arch(x86_64) || arch(arm64))

  import Glibc
  import MulticastTestSupport
  import Testing

  @testable import Multicast

  @Suite("A sandbox that refuses membarrier", .enabled(if: Sandbox.isAvailable))
  struct BarrierTests {
    @Test("refused from the start, though registering is allowed: a fence replaces it")
    func refusedFromTheStart() async {
      await #expect(processExitsWith: .exitCode(42)) {
        Sandbox.refuse(membarrier: Sandbox.privateExpedited)
        let invocation = Invocation(ThreadCallStack.current)
        let isFence = invocation.lightBarrierIsFence
        invocation.end()
        let hub = MulticastDelegate<any Observing>()
        let delegate = RecordingObserver()
        let registration = hub.add(delegate)
        hub.invoke { $0.receive(0) }
        let isEnded = cancelBlocking(registration)
        // Readers are counted for ever, and a removal destroys at once.
        let tracker = LifetimeTracker()
        hub.add(RecordingObserver(tracker: tracker), ownership: .strong)
        for _ in 0..<1_000 { hub.invoke { $0.receive(0) } }
        hub.removeAll()
        exit(isFence && isEnded && delegate.calls == 1 && tracker.live == 0 ? 42 : 1)
      }
    }

    @Test("refused later: the process ends with a message, and does not spin")
    func refusedLater() async {
      let result = await #expect(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) {
        let hub = MulticastDelegate<any Observing>()
        let delegate = RecordingObserver()
        let registration = hub.add(delegate)
        hub.invoke { $0.receive(0) }
        Sandbox.refuse(membarrier: Sandbox.privateExpedited)
        cancelBlocking(registration)
        exit(0)
      }
      let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      #expect(message.contains("Multicast: membarrier(2) is refused"))
      #expect(message.contains("before the first use"))
    }
  }

  /// Calls from an asynchronous function what may only be called from a blocking one.
  @discardableResult
  private func cancelBlocking(_ registration: Registration<any Observing>) -> Bool {
    registration.cancelAndWait(timeout: .seconds(60))
  }

  /// A filter of system calls, for the calling thread and those that it starts.
  private enum Sandbox {
    static var privateExpedited: UInt32 { 8 }

    /// Whether filters can be installed.
    static var isAvailable: Bool { control(21, 0, nil) >= 0 }  // PR_GET_SECCOMP

    #if arch(x86_64)
      private static var membarrier: UInt32 { 324 }
    #else
      private static var membarrier: UInt32 { 283 }
    #endif

    /// Makes `membarrier` fail with `EPERM` from now on if it is given `command`.
    static func refuse(membarrier command: UInt32) {
      typealias Instruction = (code: UInt16, ifTrue: UInt8, ifFalse: UInt8, operand: UInt32)
      var program: [Instruction] = [
        (0x20, 0, 0, 0),  // Load the number of the system call.
        (0x15, 0, 3, membarrier),
        (0x20, 0, 0, 16),  // Load its first argument.
        (0x15, 0, 1, command),
        (0x06, 0, 0, 0x0005_0000 | UInt32(EPERM)),
        (0x06, 0, 0, 0x7FFF_0000),  // Allow everything else.
      ]
      let isInstalled = program.withUnsafeMutableBufferPointer { instructions in
        var description = (length: UInt16(instructions.count), start: instructions.baseAddress)
        return withUnsafeMutablePointer(to: &description) { description in
          // PR_SET_NO_NEW_PRIVS, and PR_SET_SECCOMP with SECCOMP_MODE_FILTER.
          control(38, 1, nil) == 0 && control(22, 2, UnsafeMutableRawPointer(description)) == 0
        }
      }
      precondition(isInstalled, "the filter could not be installed: error \(errno)")
    }

    /// `prctl`, which Swift does not import because it is variadic.
    private static func control(
      _ option: Int32, _ first: UInt, _ second: UnsafeMutableRawPointer?
    ) -> Int32 {
      typealias Function =
        @convention(c) (Int32, UInt, UnsafeMutableRawPointer?, UInt, UInt) -> Int32
      // SAFETY: a variadic function of these platforms takes integers and pointers as any other.
      let function = unsafeBitCast(dlsym(nil, "prctl"), to: Function.self)
      return function(option, first, second, 0, 0)
    }
  }

#endif
