import AsyncHTTPClient
import NIOCore

/// Parses the blocks of an event stream.
struct EventReader {
  /// The lines up to an empty line.
  struct Block: Equatable {
    var id: UInt64?
    var event: String?
    var data: String?
    var retry: Int?
    var isComment = false
  }

  // SAFETY: `next` of the iterator leaves the caller's actor, but a reader belongs to one task, so
  // calls do not overlap.
  nonisolated(unsafe) private var chunks: HTTPClientResponse.Body.AsyncIterator
  private var bytes = ByteBuffer()

  init(_ body: HTTPClientResponse.Body) {
    chunks = body.makeAsyncIterator()
  }

  /// The next block of any kind; `nil` at the end of the stream.
  mutating func nextBlock() async throws -> Block? {
    while true {
      if let end = bytes.offset(of: "\n\n"), let block = bytes.readString(length: end) {
        bytes.moveReaderIndex(forwardBy: 2)
        return Self.parse(block)
      }
      guard var chunk = try await chunks.next() else { return nil }
      bytes.discardReadBytes()
      bytes.writeBuffer(&chunk)
    }
  }

  /// The next event, of the topic or of the server; `nil` at the end of the stream.
  mutating func next() async throws -> Block? {
    while let block = try await nextBlock() {
      if block.data != nil { return block }
    }
    return nil
  }

  /// The data of the next events.
  mutating func data(_ count: Int) async throws -> [String] {
    var result: [String] = []
    while result.count < count, let data = try await next()?.data { result.append(data) }
    return result
  }

  private static func parse(_ text: String) -> Block {
    var block = Block()
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      let value = parts.count == 2 ? parts[1].drop { $0 == " " } : ""
      switch parts[0] {
      case "id": block.id = UInt64(value)
      case "event": block.event = String(value)
      case "data": block.data = block.data.map { $0 + "\n" + value } ?? String(value)
      case "retry": block.retry = Int(value)
      default: block.isComment = true
      }
    }
    return block
  }
}
