internal import NIOCore

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// Measures for how long the peer of a connection has acknowledged nothing.
///
/// A client that does not read still acknowledges: its kernel answers all segments, and probes of a
/// full window too.
struct AcknowledgementMonitor {
  /// The kernel's times may be this coarse.
  private static let slack = TimeAmount.milliseconds(10)

  /// When the current wait for an acknowledgement began; `nil` if nothing is unacknowledged.
  private var start: (tick: Int, time: NIODeadline)?
  /// Time since the last transmission, at the last poll. With data to send, the peer has accepted
  /// nothing for that time. `nil` if the system does not tell it: of a Unix socket, and on systems
  /// other than Linux.
  private(set) var sinceSending: TimeAmount?

  /// Starts the measurement, because data was sent.
  mutating func expect(_ tick: Int) {
    if start == nil { start = (tick, .now()) }
  }

  /// Reads the TCP state of the connection. Call it on its event loop.
  ///
  /// - Returns: the number of ticks for which sent data has not been acknowledged.
  mutating func poll(_ channel: any Channel, _ tick: Int) -> Int {
    #if os(Linux)
      var found: tcp_info?
      // On its event loop, which `assumeIsolated` checks, the channel completes the future at once.
      (channel as? any SocketOptionProvider)?.getTCPInfo().assumeIsolated()
        .whenSuccess { found = $0 }
      guard let info = found else { return 0 }
      sinceSending = .milliseconds(Int64(info.tcpi_last_data_sent))
      // Continues if data is unacknowledged, and the last transmission or retransmission is newer
      // than the last acknowledgement.
      guard info.tcpi_unacked > 0, info.tcpi_last_data_sent < info.tcpi_last_ack_recv else {
        start = nil
        return 0
      }
      let now = NIODeadline.now()
      let answer = now - .milliseconds(Int64(info.tcpi_last_ack_recv))
      if let start, answer + Self.slack <= start.time { return tick - start.tick }
      start = (tick, now)
    #endif
    return 0
  }
}
