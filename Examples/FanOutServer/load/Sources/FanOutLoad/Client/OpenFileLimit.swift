#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The limit of open files of this process.
enum OpenFileLimit {
  /// Raises the limit to `count` if it is lower.
  static func raise(to count: Int) throws(LoadError) {
    var limit = rlimit()
    #if canImport(Darwin)
      let resource = RLIMIT_NOFILE
    #else
      let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #endif
    guard getrlimit(resource, &limit) == 0 else {
      throw LoadError("cannot read the limit of open files")
    }
    guard limit.rlim_cur < rlim_t(count) else { return }
    limit.rlim_cur = rlim_t(count)
    guard limit.rlim_cur <= limit.rlim_max, setrlimit(resource, &limit) == 0 else {
      throw LoadError(
        "\(count) open files are needed, but the limit is \(limit.rlim_max): see 'ulimit -H -n'")
    }
  }
}
