internal import NIOCore

/// Appends pieces of text to the memory of a `ByteBuffer`.
///
/// The head of a response takes about half of the instructions that it takes with a `writeString`
/// for each piece: the buffer grows once, and checks once whether its memory is shared.
struct TextWriter: ~Copyable {
  private let memory: UnsafeMutableRawBufferPointer
  fileprivate var count = 0

  fileprivate init(_ memory: UnsafeMutableRawBufferPointer) { self.memory = memory }
}

extension TextWriter {
  mutating func write(_ text: String) {
    // A copy, because only a variable has this access to its bytes.
    var text = text
    text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
  }

  mutating func write(_ number: UInt64) { number.withDigits { write($0) } }

  mutating func write(_ bytes: UnsafeRawBufferPointer) {
    // SAFETY: the subscript checks that the bytes have room, before they are copied.
    UnsafeMutableRawBufferPointer(rebasing: memory[count..<count + bytes.count])
      .copyMemory(from: bytes)
    count += bytes.count
  }
}

extension ByteBuffer {
  /// Appends what `body` writes.
  ///
  /// - Parameter capacity: the most bytes that `body` writes; more are a programmer's mistake.
  mutating func writeText(capacity: Int, _ body: (inout TextWriter) -> Void) {
    writeWithUnsafeMutableBytes(minimumWritableBytes: capacity) { memory in
      var writer = TextWriter(memory)
      body(&writer)
      return writer.count
    }
  }
}
