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
  @Test func ticksStandAfterANameThatMayHoldAnything() {
    let stat = "42 (a) R 1 (x) S 1 42 42 0 -1 4194560 900 0 3 0 250 75 0 0 20 0 3 0 123 1 2 3"
    #expect(ProcessUsage.ticks(inStat: stat) == 325)
    #expect(ProcessUsage.ticks(inStat: "42 (name) S 1 2 3") == nil)
    #expect(ProcessUsage.ticks(inStat: "") == nil)
  }

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
  #endif

  @Test func aProcessThatIsNotThereIsAnError() {
    #expect(throws: ProcessError.self) { try ProcessUsage.of([Int32.max]) }
  }
}
