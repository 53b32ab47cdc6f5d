internal import BenchmarkHarness
internal import Multicast

/// Observers, and a hub they are registered with.
final class Listeners: Sendable {
  let observers: ContiguousArray<any Observer & OpenObserver>

  /// - Parameter kinds: the number of their classes.
  init(_ count: Int, kinds: Int = observerKinds) {
    observers = ContiguousArray((0..<count).lazy.map { makeObserver(opaque($0 % kinds)) })
  }

  /// The events that all of them have received since the last call.
  func takeReceived() -> Int {
    observers.reduce(0) { $0 + $1.takeReceived() }
  }

  func hub(_ storage: StorageStrategy, _ ownership: Ownership) -> MulticastDelegate<any Observer> {
    let hub = MulticastDelegate<any Observer>(storage: storage)
    for observer in observers { hub.add(observer, ownership: ownership) }
    return hub
  }
}

// What is measured. Inlined into the loops, so that each stands for code of a user.
extension MulticastDelegate where Delegate == any Observer {
  @inline(__always)
  func notifyAll() {
    forEach { $0.notify(1) }
  }

  @inline(__always)
  func sumOfAnswers() -> Int {
    var sum = 0
    forEach { sum &+= $0.answer(1) }
    return sum
  }
}

extension MulticastDelegate where Delegate == any OpenObserver {
  @inline(__always)
  func notifyAll() {
    forEach { $0.notify(1) }
  }
}
