// `forEach` of a hub is under test here, not that of `Sequence`.

import Foundation
import Multicast
import MulticastTestSupport
import Testing

@Suite("Traps: Swift 6")
struct SwiftSixTrapTests {
  @Test("T31: the closure of invoke is @Sendable, so it inherits no isolation")
  func theClosureOfInvokeIsSendable() {
    typealias Hub = MulticastDelegate<any Observing>
    let invoke = "\(type(of: { (hub: Hub) in hub.invoke(_:) }))"
    #expect(invoke.contains("@Sendable (Observing) -> ()) -> Int"))
  }

  @MainActor
  @Test(
    "T31: a closure formed on the main actor does not trap on another thread",
    arguments: StorageStrategy.allCases)
  func aClosureFormedOnTheMainActor(storage: StorageStrategy) {
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let delegate = RecordingObserver()
    hub += delegate
    hub.forEach { $0.receive(1) }
    // It is handed to another thread as a value, as a queue or a stored event would do it.
    let closure: @Sendable (any Observing) -> Void = { $0.receive(2) }
    runThreads(1) { _ in hub.invoke(closure) }
    #expect(delegate.calls == 2)
  }

  @Test("T32: every unchecked conformance says what makes it right")
  func everyUncheckedConformanceSaysWhy() throws {
    let sources = URL(filePath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Sources/Multicast")
    let files = try #require(FileManager.default.enumerator(atPath: sources.path))
    var conformances = 0
    for case let file as String in files where file.hasSuffix(".swift") {
      let text = try String(contentsOf: sources.appending(path: file), encoding: .utf8)
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      for (number, line) in lines.enumerated() {
        let code = line.trimmingPrefix { $0 == " " }
        guard !code.hasPrefix("//") else { continue }
        let nearby = lines[max(0, number - 3)...min(number + 3, lines.count - 1)]
        if line.contains("@unchecked Sendable") {
          conformances += 1
          #expect(
            nearby.contains { $0.contains("// Sendable") || $0.contains("// SAFETY") },
            "\(file):\(number + 1)")
        }
        if line.contains("nonisolated(unsafe)") {
          #expect(nearby.contains { $0.contains("// SAFETY") }, "\(file):\(number + 1)")
        }
      }
    }
    #expect(conformances > 0)
  }
}
