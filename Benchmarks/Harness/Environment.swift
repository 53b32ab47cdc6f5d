/// What a figure depends on beside the code: the machine, the compiler and the commit.
struct Environment {
  let processor: String
  let cores: Int
  let system: String
  let compiler: String
  let commit: String
  /// The average number of runnable threads in the last minute, with those of this program.
  let load: Double

  static func current() -> Environment {
    var load = 0.0
    getloadavg(&load, 1)
    return Environment(
      processor: processorName, cores: sysconf(Int32(_SC_NPROCESSORS_ONLN)),
      system: firstLine(of: "uname -srm") ?? "unknown",
      compiler: firstLine(of: "swift --version") ?? compilerAtLeast,
      commit: firstLine(of: "git describe --always --dirty") ?? "unknown", load: load)
  }

  /// In the order they are printed.
  var fields: [(name: String, value: String)] {
    [
      ("processor", processor), ("cores", "\(cores)"), ("system", system),
      ("compiler", compiler), ("commit", commit), ("load", load.formatted),
    ]
  }

  private static var processorName: String {
    #if canImport(Darwin)
      return firstLine(of: "sysctl -n machdep.cpu.brand_string") ?? "unknown"
    #else
      let line = firstLine(of: "grep -m 1 'model name' /proc/cpuinfo")
      let name = line?.split(separator: ":", maxSplits: 1).last.map { $0.drop { $0 == " " } }
      return name.map(String.init) ?? firstLine(of: "uname -p") ?? "unknown"
    #endif
  }

  /// What is known of the compiler that built this, if there is none on PATH.
  private static var compilerAtLeast: String {
    #if compiler(>=6.4)
      "Swift 6.4 or later"
    #elseif compiler(>=6.3)
      "Swift 6.3"
    #else
      "Swift 6.2"
    #endif
  }

  private static func firstLine(of command: String) -> String? {
    guard let pipe = popen(command + " 2>/dev/null", "r") else { return nil }
    defer { pclose(pipe) }
    var buffer = [CChar](repeating: 0, count: 512)
    guard fgets(&buffer, Int32(buffer.count), pipe) != nil else { return nil }
    let bytes = buffer.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }
    return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
  }
}
