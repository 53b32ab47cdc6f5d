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
    let folder = Self.corpus.appendingPathComponent(name)
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(files.count >= 10)
    for file in files.sorted() {
      let bytes = try Array(Data(contentsOf: folder.appendingPathComponent(file)))
      let violation = await onOwnThread { calls.run(bytes) }
      #expect(violation == nil, "\(name)/\(file)")
    }
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
