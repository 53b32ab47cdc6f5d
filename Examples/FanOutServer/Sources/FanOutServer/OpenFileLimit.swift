internal import ArgumentParser

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// How many sockets this process may hold.
enum OpenFileLimit {
  /// Files that are no connections.
  private static let others = 64
  private static let defaultConnections = 20_000

  /// Raises the limit as far as `wanted` connections need it.
  ///
  /// - Parameter wanted: `nil` takes what there is, up to a limit.
  /// - Returns: how many connections there may be.
  static func connections(_ wanted: Int?) throws -> Int {
    var limit = rlimit()
    #if canImport(Darwin)
      let resource = RLIMIT_NOFILE
    #else
      let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #endif
    guard getrlimit(resource, &limit) == 0 else {
      throw Failure("the limit of open files cannot be read")
    }
    let hard = Int(clamping: limit.rlim_max)
    let count = wanted ?? min(defaultConnections, hard - others)
    guard count > 0, count + others <= hard else {
      throw ValidationError(
        "--max-connections: \(count) needs \(count + others) open files and \(hard) are allowed: "
          + "see 'ulimit -H -n'")
    }
    if Int(clamping: limit.rlim_cur) < count + others {
      limit.rlim_cur = rlim_t(count + others)
      guard setrlimit(resource, &limit) == 0 else {
        throw Failure("the limit of open files cannot be raised")
      }
    }
    return count
  }
}
