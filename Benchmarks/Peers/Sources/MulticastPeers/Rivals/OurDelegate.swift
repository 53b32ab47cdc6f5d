internal import Multicast

/// `MulticastDelegate`.
final class OurDelegate: Rival {
  private let hub = MulticastDelegate<any Observer>()
  private let ownership: Ownership

  init(_ reception: Reception) {
    ownership = reception.isWeak ? .weak : .strong
  }

  func add(_ observer: any Observer) -> Registration<any Observer> {
    hub.add(observer, ownership: ownership)
  }

  func remove(_ token: Registration<any Observer>) { token.cancel() }

  func notify(_ iterations: Int) {
    for _ in 0..<iterations { hub.notifyAll() }
  }

  func answers(_ iterations: Int) -> Int {
    var sum = 0
    for _ in 0..<iterations { sum &+= hub.sumOfAnswers() }
    return sum
  }
}
