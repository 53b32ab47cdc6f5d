/// Calls of one surface of the library, decoded from bytes and compared with a model.
///
/// Every sequence of bytes is a valid sequence of calls, so that a fuzzer wastes none.
public protocol CallSequence: SendableMetatype {
  /// What its corpus is called.
  static var name: String { get }

  /// Makes the calls, and returns how the library differed from the model.
  static func run(_ bytes: [UInt8]) -> String?
}

/// All of them.
public let callSequences: [any CallSequence.Type] = [
  RegistryCalls.self, BufferCalls.self, TopicCalls.self,
]

/// The bytes of a sequence, read from the front.
struct CallBytes {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) {
    // A long sequence finds little that a short one does not.
    rest = bytes.prefix(512)
  }

  var isEmpty: Bool { rest.isEmpty }

  /// A number from 0 to `bound` - 1; 0 at the end.
  mutating func next(_ bound: Int) -> Int {
    rest.popFirst().map { Int($0) % bound } ?? 0
  }
}
