#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

enum Exit {
  static func with(_ status: Int32) -> Never {
    exit(status)
  }
}
