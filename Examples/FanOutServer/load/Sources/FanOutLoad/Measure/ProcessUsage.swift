internal import FoundationEssentials

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// CPU time and memory of processes, from `/proc`.
struct ProcessUsage: Equatable, Sendable {
  /// User and system time of all threads.
  var cpuSeconds = 0.0
  /// Resident memory. A page that several processes share counts for each of them.
  var residentKilobytes = 0
}

/// A process that does not exist, or a file of `/proc` in an unexpected format.
struct ProcessError: Error, CustomStringConvertible {
  let description: String
}

extension ProcessUsage {
  /// The sum over processes.
  static func of(_ processes: [Int32]) throws(ProcessError) -> ProcessUsage {
    var sum = ProcessUsage()
    for process in processes {
      let stat = try read("/proc/\(process)/stat")
      let status = try read("/proc/\(process)/status")
      guard let ticks = ticks(inStat: stat), let kilobytes = residentKilobytes(inStatus: status)
      else {
        throw ProcessError(
          description: "cannot read the CPU time or the memory of process \(process)")
      }
      sum.cpuSeconds += Double(ticks) / Double(sysconf(Int32(_SC_CLK_TCK)))
      sum.residentKilobytes += kilobytes
    }
    return sum
  }

  /// User and system time in clock ticks: fields 14 and 15. Field 2, the name, may contain any
  /// text.
  static func ticks(inStat text: String) -> Int? {
    guard let name = text.lastIndex(of: ")") else { return nil }
    let fields = text[text.index(after: name)...].split(separator: " ")
    guard fields.count > 12, let user = Int(fields[11]), let system = Int(fields[12]) else {
      return nil
    }
    return user + system
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
