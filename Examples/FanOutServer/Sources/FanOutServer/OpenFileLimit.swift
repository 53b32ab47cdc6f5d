internal import ArgumentParser

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The limit of open files of this process.
enum OpenFileLimit {
  /// Open files other than connections and those of event loops.
  private static let others = 64
  /// Those of an event loop: what it waits for, what wakes it, and its timer.
  private static let perEventLoop = 3
  private static let defaultConnections = 20_000

  /// Raises the limit for `wanted` connections if it is too low.
  ///
  /// - Parameters:
  ///   - wanted: `nil`: as many as the hard limit allows, up to 20,000.
  ///   - eventLoops: the number of event loops.
  /// - Returns: the number of connections.
  static func connections(_ wanted: Int?, eventLoops: Int) throws -> Int {
    let others = others + perEventLoop * eventLoops
    var limit = rlimit()
    #if canImport(Darwin)
      let resource = RLIMIT_NOFILE
    #else
      let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #endif
    guard getrlimit(resource, &limit) == 0 else {
      throw Failure("cannot read the limit of open files")
    }
    let hard = Int(clamping: limit.rlim_max)
    let count = wanted ?? max(1, min(defaultConnections, hard - others))
    guard count + others <= hard else {
      throw ValidationError(
        "--max-connections: \(count) needs \(count + others) open files, but the limit is \(hard): "
          + "see 'ulimit -H -n'")
    }
    if Int(clamping: limit.rlim_cur) < count + others {
      limit.rlim_cur = rlim_t(count + others)
      guard setrlimit(resource, &limit) == 0 else {
        throw Failure("cannot raise the limit of open files")
      }
    }
    return count
  }
}
