import Testing

@testable import FanOutLoad

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite struct ProcessUsageTests {
  @Test func residentMemoryIsInKilobytes() {
    let status = "Name:\tserver\nVmHWM:\t    9999 kB\nVmRSS:\t   12345 kB\nThreads:\t3\n"
    #expect(ProcessUsage.residentKilobytes(inStatus: status) == 12_345)
    #expect(ProcessUsage.residentKilobytes(inStatus: "Name:\tkthread\n") == nil)
    #expect(ProcessUsage.residentKilobytes(inStatus: "VmRSS:\t12 MB\n") == nil)
  }

  #if os(Linux)
    @Test func readsThisProcess() throws {
      let usage = try ProcessUsage.of([getpid()])
      #expect(usage.residentKilobytes > 1_000)
      let twice = try ProcessUsage.of([getpid(), getpid()])
      #expect(twice.residentKilobytes > usage.residentKilobytes)
    }

    @Test func isTheTimeOfTheProcessClock() throws {
      let before = ownSeconds()
      let used = try ProcessUsage.of([getpid()]).cpuSeconds
      // The clock counts nanoseconds, and a sum of `Double` rounds.
      #expect(before - 1e-6 <= used && used <= ownSeconds() + 1e-6)
    }

    private func ownSeconds() -> Double {
      var time = timespec()
      clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
      return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
  #endif

  @Test func aProcessThatIsNotThereIsAnError() {
    #expect(throws: ProcessError.self) { try ProcessUsage.of([Int32.max]) }
  }
}
