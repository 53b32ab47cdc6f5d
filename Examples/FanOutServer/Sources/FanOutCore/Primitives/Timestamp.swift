internal import NIOConcurrencyHelpers

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

#if canImport(Darwin)
  package import Darwin
#elseif canImport(Glibc)
  package import Glibc
#elseif canImport(Musl)
  package import Musl
#endif

/// Formats times of logs and of HTTP, in UTC.
///
/// A `Date` and not a `timespec`: with `MemberImportVisibility`, the module to which the members of
/// that belong is the one that the compiler happens to load first, of Glibc and of SwiftNIO.
package enum Timestamp {
  /// The current time.
  package static var now: Date { Date() }

  package static var secondsSince1970: Int64 { seconds(now) }

  private static func seconds(_ time: Date) -> Int64 {
    Int64(time.timeIntervalSince1970.rounded(.down))
  }

  /// A time like `2026-11-22T12:22:49.123Z` (RFC 3339).
  package static func text(_ time: Date) -> String {
    let parts = parts(time)
    let fraction = time.timeIntervalSince1970 - Double(seconds(time))
    let milliseconds = String(1000 + Int(fraction * 1000)).dropFirst()
    return "\(parts.tm_year + 1900)-\(twoDigits(parts.tm_mon + 1))-\(twoDigits(parts.tm_mday))T"
      + "\(clock(parts)).\(milliseconds)Z"
  }

  /// The text of the second in which it was last asked for.
  private static let lastHTTPDate = NIOLockedValueBox((second: Int64.min, text: ""))

  /// The current time as ``httpDate(_:)``.
  static var httpDateNow: String {
    let now = now
    let second = seconds(now)
    return lastHTTPDate.withLockedValue { last in
      if last.second != second { last = (second, httpDate(now)) }
      return last.text
    }
  }

  /// A time like `Sun, 22 Nov 2026 12:22:49 GMT`, for the header field `Date` (RFC 9110, 5.6.7).
  static func httpDate(_ time: Date) -> String {
    let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    let parts = parts(time)
    return "\(days[Int(parts.tm_wday)]), \(twoDigits(parts.tm_mday)) \(month(parts)) "
      + "\(parts.tm_year + 1900) \(clock(parts)) GMT"
  }

  /// The month of a time, like `Nov`.
  static func month(_ parts: tm) -> String {
    let months = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    return months[Int(parts.tm_mon)]
  }

  /// The time of a day, like `12:22:49`.
  static func clock(_ parts: tm) -> String {
    "\(twoDigits(parts.tm_hour)):\(twoDigits(parts.tm_min)):\(twoDigits(parts.tm_sec))"
  }

  package static func parts(_ time: Date) -> tm {
    var seconds = time_t(seconds(time))
    var parts = tm()
    gmtime_r(&seconds, &parts)
    return parts
  }

  package static func twoDigits(_ number: Int32) -> String {
    number < 10 ? "0\(number)" : "\(number)"
  }
}
