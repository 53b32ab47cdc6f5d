internal import FoundationEssentials

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// CPU time and memory of processes on Linux.
struct ProcessUsage: Equatable, Sendable {
  /// User and system time of all threads.
  var cpuSeconds = 0.0
  /// Resident memory. A page that several processes share counts for each of them.
  var residentKilobytes = 0
}

/// A process that does not exist, a file of `/proc` in an unexpected format, or another system.
struct ProcessError: Error, CustomStringConvertible {
  let description: String
}

extension ProcessUsage {
  /// The sum over processes.
  static func of(_ processes: [Int32]) throws(ProcessError) -> ProcessUsage {
    var sum = ProcessUsage()
    for process in processes {
      let status = try read("/proc/\(process)/status")
      guard let kilobytes = residentKilobytes(inStatus: status) else {
        throw ProcessError(description: "cannot read the memory of process \(process)")
      }
      sum.cpuSeconds += try cpuSeconds(of: process)
      sum.residentKilobytes += kilobytes
    }
    return sum
  }

  /// User and system time of all threads, also of those that have ended, from the CPU clock of the
  /// process: `/proc` counts in ticks of 10 ms.
  private static func cpuSeconds(of process: Int32) throws(ProcessError) -> Double {
    #if os(Linux)
      var clock = clockid_t()
      var time = timespec()
      guard clock_getcpuclockid(process, &clock) == 0, clock_gettime(clock, &time) == 0 else {
        throw ProcessError(
          description: "cannot read the CPU time of process \(process): is the process running?")
      }
      return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    #else
      throw ProcessError(description: "the CPU time of another process can be read on Linux only")
    #endif
  }

  /// The line `VmRSS:    1234 kB`.
  static func residentKilobytes(inStatus text: String) -> Int? {
    for line in text.split(separator: "\n") where line.hasPrefix("VmRSS:") {
      let words = line.split { $0 == " " || $0 == "\t" }
      return words.count == 3 && words[2] == "kB" ? Int(words[1]) : nil
    }
    return nil
  }

  private static func read(_ path: String) throws(ProcessError) -> String {
    do {
      return try String(contentsOfFile: path, encoding: .utf8)
    } catch {
      throw ProcessError(description: "cannot read \(path): is the process running?")
    }
  }
}
