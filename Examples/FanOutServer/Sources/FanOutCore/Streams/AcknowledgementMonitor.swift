internal import NIOCore

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// How long the other side of a connection has not answered at all.
///
/// A client that reads nothing is not silent: its system acknowledges whatever it is sent, probes
/// of its full window too.
struct AcknowledgementMonitor {
  /// The clock of the system's statistics may tick this slowly.
  private static let slack = TimeAmount.milliseconds(10)

  /// Since when something is known to wait for an acknowledgement.
  private var start: (tick: Int, time: NIODeadline)?
  /// For how long nothing had been sent, at the last look: with something to send, because the other
  /// side took nothing. Always zero where the system does not say.
  private(set) var sinceSending = TimeAmount.zero

  /// Something has been sent.
  mutating func expect(_ tick: Int) {
    if start == nil { start = (tick, .now()) }
  }

  /// Looks at the connection, on its event loop.
  ///
  /// - Returns: how many ticks nothing has come for what was sent.
  mutating func poll(_ channel: any Channel, _ tick: Int) -> Int {
    #if os(Linux)
      var found: tcp_info?
      // On its event loop a channel answers at once.
      (channel as? any SocketOptionProvider)?.getTCPInfo().assumeIsolated()
        .whenSuccess { found = $0 }
      guard let info = found else { return 0 }
      sinceSending = .milliseconds(Int64(info.tcpi_last_data_sent))
      // What was sent last, maybe for the second time, is not answered.
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
