import Synchronization

/// A record of numbers, in order.
final class Record: Sendable {
  private let numbers = Mutex<[Int]>([])

  func append(_ number: Int) { numbers.withLock { $0.append(number) } }

  var entries: [Int] { numbers.withLock { $0 } }
}
