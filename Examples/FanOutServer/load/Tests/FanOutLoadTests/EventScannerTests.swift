import Testing

@testable import FanOutLoad

@Suite struct EventScannerTests {
  private static let payloads = (0..<3).map { Payload(sequence: $0, sentAt: UInt64($0) * 1_000) }

  private static let stream: [UInt8] = {
    var text = Array(": hi\n\n".utf8)
    for payload in payloads {
      text += Array("id: 7:\(payload.sequence)\r\ndata: ".utf8) + payload.encoded(size: 50)
      text += Array("\r\n\r\n".utf8)
    }
    text += Array("event: missed\ndata: 3\n\nretry: 1\n\ndata:a\ndata:bc\n\n".utf8)
    return text
  }()

  private static let expected: [EventScanner.Event] =
    payloads.map { EventScanner.Event(payload: $0, dataLength: 50, hasID: true, hasData: true) }
    + [
      EventScanner.Event(payload: nil, dataLength: 1, isNotice: true, hasData: true),
      EventScanner.Event(payload: nil, dataLength: 4, hasData: true),
    ]

  private func events(in pieces: [ArraySlice<UInt8>]) throws -> [EventScanner.Event] {
    var scanner = EventScanner()
    var events: [EventScanner.Event] = []
    for piece in pieces {
      try piece.withUnsafeBytes { bytes in
        try scanner.scan(bytes) { events.append($0) }
      }
    }
    return events
  }

  @Test func findsEventsInOnePiece() throws {
    #expect(try events(in: [Self.stream[...]]) == Self.expected)
  }

  @Test func findsTheSameEventsWhereverTheBytesAreSplit() throws {
    let stream = Self.stream
    for first in 0...stream.count {
      let pieces = [stream[..<first], stream[first...]]
      #expect(try events(in: pieces) == Self.expected, "split at \(first)")
    }
    #expect(try events(in: stream.indices.map { stream[$0...$0] }) == Self.expected)
  }

  @Test func refusesALineWithoutEnd() {
    let piece = [UInt8](repeating: UInt8(ascii: "x"), count: LineScanner.limit)
    #expect(throws: ScanError.lineTooLong) { try events(in: [piece[...], piece[...]]) }
  }
}
