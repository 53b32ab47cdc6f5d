import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPTypesHTTP1
import Testing

@testable import FanOutCore

/// A response of HTTP/1 as one buffer says what the encoder of SwiftNIO would say.
@Suite struct WholeResponseTests {
  private static let responses: [WholeResponse] = [
    .json("{}"),
    .json(ByteBuffer(string: "{\"id\":1}\n")),
    .options(.events),
    .text("", "text/plain"),
    .text(String(repeating: "x", count: 4096), "text/plain"),
    .text(String(repeating: "x", count: 4097), "text/plain"),
    RequestError.badRequest("line\n\"quote\"").response,
    RequestError.unavailable(Unavailable("later")).response,
    RequestError(.methodNotAllowed, "no", [.allow: String(repeating: "GET, ", count: 1000)])
      .response,
    WholeResponse(status: .init(code: 299), fields: [:], body: ByteBuffer(string: "x")),
    WholeResponse(
      status: .init(code: 299, reasonPhrase: String(repeating: "y", count: 1000)), fields: [:]),
    .page, .client, .description,
  ]

  /// The status line, the fields but `Date`, sorted, and the body.
  private static func parts(_ bytes: ByteBuffer) throws -> (String, [String], String, dates: Int) {
    let text = String(buffer: bytes)
    let end = try #require(text.firstRange(of: "\r\n\r\n"))
    let lines = text[..<end.lowerBound].split(separator: "\r\n").map { String($0) }
    let isDate: (String) -> Bool = { $0.lowercased().hasPrefix("date: ") }
    let fields = lines.dropFirst()
    return (
      lines[0], fields.filter { !isDate($0) }.sorted(), String(text[end.upperBound...]),
      dates: fields.count(where: isDate)
    )
  }

  private static func joined(_ response: WholeResponse, isLast: Bool = false) -> ByteBuffer {
    var (bytes, body) = response.encoded(.http1_1, isLast: isLast, ByteBufferAllocator())
    if let body { bytes.writeImmutableBuffer(body) }
    return bytes
  }

  @Test(arguments: responses.indices, [HTTPRequest.Method.get, .head])
  func theEncoderSaysTheSame(_ index: Int, _ method: HTTPRequest.Method) throws {
    let response = Self.responses[index].withoutBody(if: method)
    let channel = EmbeddedChannel(handler: HTTPResponseEncoder())
    var head = HTTPResponseHead(response.head)
    head.headers.replaceOrAdd(name: "Date", value: Timestamp.httpDateNow)
    try channel.writeOutbound(HTTPServerResponsePart.head(head))
    if response.body.readableBytes > 0 {
      try channel.writeOutbound(HTTPServerResponsePart.body(.byteBuffer(response.body)))
    }
    try channel.writeOutbound(HTTPServerResponsePart.end(nil))
    var expected = ByteBuffer()
    while let part = try channel.readOutbound(as: ByteBuffer.self) {
      expected.writeImmutableBuffer(part)
    }
    _ = try channel.finish()
    let (line, fields, body, dates) = try Self.parts(Self.joined(response))
    let other = try Self.parts(expected)
    // SwiftNIO has a phrase of its own for a status without one.
    #expect(line == other.0 || line.hasPrefix("HTTP/1.1 299 "))
    #expect(fields == other.1)
    #expect(body == other.2)
    #expect(dates == 1)
  }

  @Test func aLongBodyIsNotCopied() {
    let short = Self.responses[4].encoded(.http1_1, isLast: false, ByteBufferAllocator())
    #expect(short.body == nil)
    let long = Self.responses[5].encoded(.http1_1, isLast: false, ByteBufferAllocator())
    #expect(long.body == Self.responses[5].body)
  }

  @Test func theLastResponseSaysSo() throws {
    let fields = try Self.parts(Self.joined(.json("{}"), isLast: true)).1
    #expect(fields.contains("Connection: close"))
    #expect(try !Self.parts(Self.joined(.json("{}"))).1.contains("Connection: close"))
  }

  @Test func anOldClientGetsItsVersion() {
    let (bytes, _) = WholeResponse.json("{}")
      .encoded(.http1_0, isLast: true, ByteBufferAllocator())
    #expect(String(buffer: bytes).hasPrefix("HTTP/1.0 200 OK\r\n"))
  }

  @Test(arguments: [(1, 0, false), (UInt64.max, Int.max, true)])
  func aReceiptFits(_ id: EventID, _ subscribers: Int, _ isRepeated: Bool) {
    let receipt = Receipt(id: id, subscribers: subscribers, isRepeated: isRepeated)
    let repeated = isRepeated ? #","repeated":true"# : ""
    #expect(receipt.json == #"{"id":\#(id),"subscribers":\#(subscribers)\#(repeated)}"#)
    #expect(String(buffer: receipt.response.body) == receipt.json + "\n")
  }

  @Test func aWriterRefusesMoreThanItsCapacity() async {
    await #expect(processExitsWith: .failure) {
      var buffer = ByteBuffer()
      buffer.writeText(capacity: 4) { text in
        for _ in 0..<10_000 { text.write("abcdefgh") }
      }
    }
  }
}
