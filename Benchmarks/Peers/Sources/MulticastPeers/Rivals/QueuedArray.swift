internal import Dispatch

/// An array on a concurrent queue, where changes are barriers.
final class QueuedArray<List: ObserverList>: Rival, @unchecked Sendable {
  // Sendable: `list` is read on the queue and changed by its barriers.
  private let queue = DispatchQueue(label: "observers", attributes: .concurrent)
  private var list = List()

  init(_: Reception) {}

  func add(_ observer: any Observer) -> any Observer {
    queue.sync(flags: .barrier) { list.append(observer) }
    return observer
  }

  func remove(_ token: any Observer) {
    queue.sync(flags: .barrier) { list.remove(token) }
  }

  func notify(_ iterations: Int) {
    for _ in 0..<iterations { queue.sync { list }.notify() }
  }

  func answers(_ iterations: Int) -> Int {
    var sum = 0
    for _ in 0..<iterations { sum &+= queue.sync { list }.answers }
    return sum
  }
}
