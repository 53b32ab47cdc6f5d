/// The result of a run, as in the JSON file.
struct Report: Codable, Sendable {
  var streams: Int
  var stalledStreams: Int
  var payloadBytes: Int
  /// Requested events per second; 0: full speed.
  var rate: Double
  var window: Int
  /// Measured events.
  var published: Int
  /// The time from the first publication to the last receipt.
  var seconds: Double
  var publishedPerSecond: Double
  var deliveries: Int
  var deliveriesPerSecond: Double
  /// The time from publication to receipt.
  var p50Milliseconds: Double
  var p99Milliseconds: Double
  var maxMilliseconds: Double
  /// The maximum delay of a publication after its due time.
  var latestPublicationMilliseconds: Double
  /// CPU time of the client while measuring.
  var clientCPUSeconds: Double
  var server: Server?
  /// The errors; empty if each stream got each event exactly once and in order.
  var complaints: [String]

  /// The server's processes.
  struct Server: Codable, Sendable {
    /// CPU time while measuring.
    var cpuSeconds: Double
    var deliveriesPerCPUSecond: Double
    /// Resident memory before the first stream.
    var residentKilobytesBefore: Int
    /// Resident memory when all streams were open and had received the first events.
    var residentKilobytesOpen: Int
    var residentKilobytesAfter: Int
    var kilobytesPerStream: Double
  }
}

extension Report {
  /// The report as text.
  var text: String {
    var lines = [
      "streams          \(streams)" + (stalledStreams > 0 ? " and \(stalledStreams) stalled" : "")
    ]
    if published > 0 { lines += deliveryLines }
    if let server {
      lines.append(
        "server memory    \(server.residentKilobytesBefore) KB before, "
          + "\(server.residentKilobytesOpen) KB open, \(server.residentKilobytesAfter) KB after, "
          + "\(server.kilobytesPerStream.rounded(1)) KB per stream")
    }
    lines += complaints.map { "WRONG            \($0)" }
    return lines.joined(separator: "\n")
  }

  private var deliveryLines: [String] {
    var lines = [
      "published        \(published) events of \(payloadBytes) bytes in \(seconds.rounded(2)) s, "
        + "\(publishedPerSecond.rounded(1)) per second",
      "deliveries       \(deliveries), \(Int(deliveriesPerSecond)) per second",
      "latency          p50 \(p50Milliseconds.rounded(3)) ms, p99 \(p99Milliseconds.rounded(3)) ms, "
        + "max \(maxMilliseconds.rounded(3)) ms",
      "publisher        late by \(latestPublicationMilliseconds.rounded(3)) ms at most",
      "client CPU       \(clientCPUSeconds.rounded(2)) s",
    ]
    if let server {
      lines.append(
        "server CPU       \(server.cpuSeconds.rounded(2)) s, "
          + "\(Int(server.deliveriesPerCPUSecond)) deliveries per CPU second")
    }
    return lines
  }
}

extension Double {
  /// Rounded to `digits` decimal places.
  fileprivate func rounded(_ digits: Int) -> Double {
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    return (self * scale).rounded() / scale
  }
}
