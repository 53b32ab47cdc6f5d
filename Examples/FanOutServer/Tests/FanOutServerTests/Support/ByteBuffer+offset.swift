import NIOCore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension ByteBuffer {
  /// The offset of `text` from the first readable byte; `nil` if there is none.
  ///
  /// Uses the C library, because tests are not optimised and some of them read much data.
  func offset(of text: String, from start: Int = 0) -> Int? {
    let wanted = Array(text.utf8)
    return withUnsafeReadableBytes { bytes -> Int? in
      guard let base = bytes.baseAddress else { return nil }
      var place = start
      while place + wanted.count <= bytes.count {
        guard let first = memchr(base + place, Int32(wanted[0]), bytes.count - place) else {
          return nil
        }
        place = UnsafeRawPointer(first) - base
        if place + wanted.count <= bytes.count, memcmp(first, wanted, wanted.count) == 0 {
          return place
        }
        place += 1
      }
      return nil
    }
  }
}
