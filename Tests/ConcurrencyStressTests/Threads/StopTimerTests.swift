#if canImport(Glibc)
  import Foundation
  import Testing

  @testable import ConcurrencyStress

  /// Whether a signal ended a wait of some milliseconds, which no signal restarts.
  private func isSignalled(milliseconds: Int32) -> Bool {
    poll(nil, 0, milliseconds) == -1 && errno == EINTR
  }

  @Suite(.serialized) struct StopTimerTests {
    @Test(arguments: [1, 4]) func aThreadStopsInOneOfSoManyCalls(interval: Int) {
      let stops = Counter()
      let thread = RunningThread {
        let timer = StopTimer(every: UInt64(interval))
        var generator = SplitMix64(seed: 1)
        for _ in 0..<100 * interval {
          timer.mayStop(using: &generator) { if isSignalled(milliseconds: 3) { stops.add() } }
        }
      }
      thread.join()
      // Some stop before they wait.
      #expect((40...140).contains(stops.value), "\(stops.value)")
    }

    @Test func aThreadDoesNotStopBetweenItsCalls() {
      let stops = Counter()
      let thread = RunningThread {
        let timer = StopTimer(every: 1)
        var generator = SplitMix64(seed: 1)
        for _ in 0..<50 {
          timer.mayStop(using: &generator) {}
          if isSignalled(milliseconds: 3) { stops.add() }
        }
      }
      thread.join()
      #expect(stops.value == 0)
    }

    @Test func aSystemCallThatWaitsGoesOnWaiting() throws {
      let pipe = Pipe()
      let reader = RunningThread {
        let timer = StopTimer(every: 1)
        var generator = SplitMix64(seed: 1)
        for byte in UInt8(0)..<20 {
          var received: UInt8 = 0
          timer.mayStop(using: &generator) {
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
          var generator = SplitMix64(seed: 1)
          let timer = StopTimer(every: 1)
          for _ in 0..<20 { timer.mayStop(using: &generator) { _ = isSignalled(milliseconds: 3) } }
        }
        thread.join()
        var action = sigaction()
        sigaction(SIGURG, nil, &action)
        precondition(action.sa_flags & Int32(SA_ONSTACK) == 0, "the handler of a timer")
      }
    }
  }
#endif
