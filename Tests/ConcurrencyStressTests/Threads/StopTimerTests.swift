#if canImport(Glibc)
  import Foundation
  import Testing

  @testable import ConcurrencyStress

  /// Whether a signal ended a wait of some milliseconds, which no signal restarts.
  private func isSignalled(milliseconds: Int32) -> Bool {
    poll(nil, 0, milliseconds) == -1 && errno == EINTR
  }

  @Suite(.serialized) struct StopTimerTests {
    @Test func aThreadStopsInTheMiddleOfItsCalls() {
      let stops = Counter()
      let thread = RunningThread {
        var timer = StopTimer()
        for _ in 0..<100 {
          usleep(300)  // A thread that stopped a moment ago does not stop again.
          timer.mayStop { if isSignalled(milliseconds: 3) { stops.add() } }
        }
      }
      thread.join()
      // Some stop before they wait.
      #expect((40...100).contains(stops.value), "\(stops.value)")
    }

    // In a process of its own: the timers of other tests would learn how long their calls take.
    @Test func aThreadStopsInTheMiddleOfShortCallsToo() async {
      await #expect(processExitsWith: .success) {
        let stops = Counter()
        let thread = RunningThread {
          var timer = StopTimer()
          for call in 0..<3000 {
            usleep(300)
            timer.mayStop {
              let begin = ContinuousClock.now
              var end = begin
              while end - begin < .microseconds(2) { end = .now }
              // The first calls teach the timer how long they take.
              if call >= 1000 && end - begin > .microseconds(30) { stops.add() }
            }
          }
        }
        thread.join()
        precondition(stops.value > 120, "\(stops.value) of 2000")
      }
    }

    @Test func aThreadDoesNotStopBetweenItsCalls() {
      let stops = Counter()
      let thread = RunningThread {
        var timer = StopTimer()
        for _ in 0..<50 {
          timer.mayStop {}
          if isSignalled(milliseconds: 3) { stops.add() }
        }
      }
      thread.join()
      #expect(stops.value == 0)
    }

    @Test func aSystemCallThatWaitsGoesOnWaiting() throws {
      let pipe = Pipe()
      let reader = RunningThread {
        var timer = StopTimer()
        for byte in UInt8(0)..<20 {
          var received: UInt8 = 0
          timer.mayStop {
            #expect(read(pipe.fileHandleForReading.fileDescriptor, &received, 1) == 1)
          }
          #expect(received == byte)
        }
      }
      for byte in UInt8(0)..<20 {
        // By then the reader was stopped while it waits.
        usleep(3000)
        pipe.fileHandleForWriting.write(Data([byte]))
      }
      reader.join()
    }

    @Test func aProcessThatHandlesTheSignalKeepsItsHandler() async {
      await #expect(processExitsWith: .success) {
        signal(SIGURG) { _ in fatalError("no signal was sent") }
        let thread = RunningThread {
          var timer = StopTimer()
          for _ in 0..<20 { timer.mayStop { _ = isSignalled(milliseconds: 3) } }
        }
        thread.join()
        var action = sigaction()
        sigaction(SIGURG, nil, &action)
        precondition(action.sa_flags & Int32(SA_ONSTACK) == 0, "the handler of a timer")
      }
    }
  }
#endif
