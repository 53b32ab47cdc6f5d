import Testing

@testable import FanOutLoad

@Suite struct ResponseScannerTests {
  /// Responses on one connection, with the expected parts.
  private static let connection = Array(
    """
    HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nServer: a\r\ncontent-LENGTH: 5\r\n\r\nhello\
    HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n\
    5;x=y\r\nhello\r\n00a\r\n, world\r\n!\r\n0\r\nTrailer: b\r\n\r\n\
    HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\n\nrest
    """.utf8)
  private static let expected =
    "[201]hello[end][200]hello, world\r\n![end][204][end][200]rest"

  private func transcript(of pieces: [ArraySlice<UInt8>]) throws -> String {
    var scanner = ResponseScanner()
    var transcript = ""
    for piece in pieces {
      try piece.withUnsafeBytes { bytes in
        var rest = bytes
        while let part = try scanner.next(in: &rest) {
          switch part {
          case .head(let status): transcript += "[\(status)]"
          case .body(let bytes): transcript += bytes.text
          case .end: transcript += "[end]"
          }
        }
        #expect(rest.isEmpty)
      }
    }
    return transcript
  }

  @Test func findsTheSamePartsWhereverTheBytesAreSplit() throws {
    let connection = Self.connection
    for first in 0...connection.count {
      let pieces = [connection[..<first], connection[first...]]
      #expect(try transcript(of: pieces) == Self.expected, "split at \(first)")
    }
    #expect(try transcript(of: connection.indices.map { connection[$0...$0] }) == Self.expected)
  }

  @Test(arguments: [
    ("SSH-2.0-x\r\n", ScanError.statusLine("SSH-2.0-x")),
    ("HTTP/1.1 2000 OK\r\n", .statusLine("HTTP/1.1 2000 OK")),
    ("HTTP/1.1 200 OK\r\nno colon\r\n", .header("no colon")),
    ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n", .header("Content-Length: -1")),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n", .header("Transfer-Encoding: gzip")),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", .chunkSize("xyz")),
    (
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1000000000000000\r\n",
      .chunkSize("1000000000000000")
    ),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", .chunkEnd),
  ])
  func refusesWhatIsNoResponse(text: String, error: ScanError) {
    #expect(throws: error) { try transcript(of: [Array(text.utf8)[...]]) }
  }
}
