import Foundation

/// A gate that is opened once, and on which tasks wait.
final class AsyncGate: @unchecked Sendable {
  // Sendable: everything that changes is accessed under `lock` only.
  private let lock = NSLock()
  private var isOpen = false
  private var nextID = 0
  private var waiting: [Int: CheckedContinuation<Bool, Never>] = [:]
  private var cancelled: Set<Int> = []

  func open() {
    let continuations = lock.withLock {
      isOpen = true
      defer { waiting = [:] }
      return Array(waiting.values)
    }
    for continuation in continuations { continuation.resume(returning: true) }
  }

  /// Returns when the gate is open, whether or not the task is cancelled.
  func wait() async {
    _ = await withCheckedContinuation { enter(newID(), $0) }
  }

  /// Returns when the gate is open or the task is cancelled.
  ///
  /// - Returns: whether the gate is open.
  @discardableResult
  func waitUnlessCancelled() async -> Bool {
    let id = newID()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { enter(id, $0) }
    } onCancel: {
      let continuation = lock.withLock {
        if waiting[id] == nil { cancelled.insert(id) }
        return waiting.removeValue(forKey: id)
      }
      continuation?.resume(returning: false)
    }
  }

  private func newID() -> Int {
    lock.withLock {
      nextID += 1
      return nextID
    }
  }

  private func enter(_ id: Int, _ continuation: CheckedContinuation<Bool, Never>) {
    let answer = lock.withLock { () -> Bool? in
      if isOpen { return true }
      if cancelled.remove(id) != nil { return false }
      waiting[id] = continuation
      return nil
    }
    if let answer { continuation.resume(returning: answer) }
  }
}
