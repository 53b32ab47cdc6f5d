import CallSequences
import ConcurrencyStress
import Foundation
import Testing

/// Sequences of calls of the surface agree with a model: those that the fuzzer has kept, and random
/// ones.
@Suite struct CallSequenceTests {
  private static let corpus = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Fuzz/corpus")

  private func sequence(_ name: String) throws -> any CallSequence.Type {
    try #require(callSequences.first { $0.name == name })
  }

  @Test(arguments: callSequences.map { $0.name })
  func theCorpusHolds(_ name: String) async throws {
    let calls = try sequence(name)
    let text = try String(
      contentsOf: Self.corpus.appendingPathComponent("\(name).txt"), encoding: .utf8)
    let lines = text.split(separator: "\n")
    #expect(lines.count >= 50)
    for line in lines {
      let bytes = try #require(Self.bytes(String(line)), "'\(line)' is not hexadecimal")
      let violation = await onOwnThread { calls.run(bytes) }
      #expect(violation == nil, "\(line)")
    }
  }

  /// The bytes of a line of the corpus: two hexadecimal digits each.
  private static func bytes(_ line: String) -> [UInt8]? {
    guard line.count.isMultiple(of: 2) else { return nil }
    let digits = Array(line)
    let bytes = stride(from: 0, to: digits.count, by: 2).compactMap {
      UInt8(String(digits[$0...$0 + 1]), radix: 16)
    }
    return bytes.count == digits.count / 2 ? bytes : nil
  }

  @Test(arguments: callSequences.map { $0.name })
  func randomSequencesHold(_ name: String) async throws {
    let calls = try sequence(name)
    var generator = SplitMix64(seed: SplitMix64.runSeed)
    for _ in 0..<200 {
      let count = Int.random(in: 1...400, using: &generator)
      let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
      let violation = await onOwnThread { calls.run(bytes) }
      #expect(violation == nil, "STRESS_SEED=\(SplitMix64.runSeed): \(bytes)")
      if violation != nil { return }
    }
  }
}
