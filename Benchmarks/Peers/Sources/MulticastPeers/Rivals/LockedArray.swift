internal import Foundation

/// An array under a lock. It is copied before any observer is called: with the lock held, an
/// observer that adds or removes would wait for itself.
final class LockedArray<List: ObserverList>: Rival, @unchecked Sendable {
  // Sendable: `list` is used under the lock.
  private let lock = NSLock()
  private var list = List()

  init(_: Reception) {}

  func add(_ observer: any Observer) -> any Observer {
    lock.withLock { list.append(observer) }
    return observer
  }

  func remove(_ token: any Observer) {
    lock.withLock { list.remove(token) }
  }

  func notify(_ iterations: Int) {
    for _ in 0..<iterations { lock.withLock { list }.notify() }
  }

  func answers(_ iterations: Int) -> Int {
    var sum = 0
    for _ in 0..<iterations { sum &+= lock.withLock { list }.answers }
    return sum
  }
}
