import CMulticast
import Foundation
import MulticastTestSupport
import Synchronization
import Testing

@testable import Multicast

/// Checks of what the thread sanitizer learns, which need a build with it. Each runs in a process
/// of its own, which ends with 66 if there was a report.
@Suite("A continuation that is resumed early is no race, and hides none")
struct SanitizerTests {
  @Test("no report: what comes before the resumption", .enabled(if: cmulticast_is_thread_sanitized))
  func noReport() async {
    await #expect(processExitsWith: .success) {
      let resumer = EarlyResumer()
      for round in 0..<100 {
        await suspendUnchecked { resumer.resume($0, before: { resumer.value = round }) }
        precondition(resumer.value == round)
        await suspend { resumer.resume($0, before: { resumer.value = -round }) }
        precondition(resumer.value == -round)
      }
      resumer.end()
    }
  }

  @Test(
    "a report: what comes after the resumption, or without one",
    .enabled(if: cmulticast_is_thread_sanitized))
  func report() async {
    await #expect(processExitsWith: .exitCode(66)) {
      let resumer = EarlyResumer()
      for round in 0..<100 {
        await suspendUnchecked { resumer.resume($0, after: { resumer.value = round }) }
        resumer.value += 1
      }
      resumer.end()
    }
    await #expect(processExitsWith: .exitCode(66)) {
      let resumer = EarlyResumer()
      for _ in 0..<100 {
        await suspend { resumer.resume($0, after: { resumer.value += 1 }) }
        resumer.value += 1
      }
      resumer.end()
    }
  }

  @Test("every continuation of the library is awaited in one file, which tells the sanitizer")
  func oneFile() throws {
    var folder = URL(filePath: #filePath)
    for _ in 0..<4 { folder.deleteLastPathComponent() }
    folder.append(path: "Sources/Multicast")
    let files = try #require(FileManager.default.enumerator(atPath: folder.path()))
    var awaiting: [String] = []
    for case let file as String in files where file.hasSuffix(".swift") {
      let source = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
      let names = ["withCheckedContinuation", "withUnsafeContinuation", "ThrowingContinuation("]
      if names.contains(where: { source.contains($0) }) { awaiting.append(file) }
    }
    #expect(awaiting == ["Primitives/Suspension.swift"])
  }
}

/// A thread that resumes continuations before they are awaited.
private final class EarlyResumer: @unchecked Sendable {
  // Sendable: `value` is what the tests race for; `action` is handed over with `given`.
  var value = 0
  private var action: (() -> Void)?
  /// How often the thread was given an action, and how often it has run one.
  private let given = Atomic(0)
  private let done = Atomic(0)
  private let isEnding = Atomic(false)
  private var thread: RunningThread?

  init() {
    thread = RunningThread { [unowned self] in
      var count = 0
      while !isEnding.load(ordering: .acquiring) {
        // Acquiring: the action is seen.
        guard given.load(ordering: .acquiring) > count else { continue }
        count += 1
        action?()
        // Relaxed: the sanitizer is not to see an order that the continuation does not make.
        done.store(count, ordering: .relaxed)
      }
    }
  }

  func resume(
    _ continuation: UnsafeContinuation<Void, Never>, before: @escaping () -> Void = {},
    after: @escaping () -> Void = {}
  ) {
    run {
      before()
      continuation.resume()
      after()
    }
  }

  func resume(
    _ continuation: CheckedContinuation<Void, Never>, before: @escaping () -> Void = {},
    after: @escaping () -> Void = {}
  ) {
    run {
      before()
      continuation.resume()
      after()
    }
  }

  /// Runs `action` on the thread, and returns when it has run.
  private func run(_ action: @escaping () -> Void) {
    self.action = action
    // Releasing: the thread sees the action.
    let count = given.add(1, ordering: .releasing).newValue
    while done.load(ordering: .relaxed) < count {}
  }

  func end() {
    isEnding.store(true, ordering: .releasing)
    thread?.join()
  }
}
