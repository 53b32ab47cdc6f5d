/// The usual list.
protocol ObserverList: Sendable {
  init()
  mutating func append(_ observer: any Observer)
  mutating func remove(_ observer: any Observer)
  func notify()
  var answers: Int { get }
}

/// One that keeps its observers.
struct StrongList: ObserverList {
  private var observers: [any Observer] = []

  mutating func append(_ observer: any Observer) { observers.append(observer) }

  mutating func remove(_ observer: any Observer) {
    guard let index = observers.firstIndex(where: { $0 === observer }) else { return }
    observers.remove(at: index)
  }

  func notify() {
    for observer in observers { observer.notify(1) }
  }

  var answers: Int {
    var sum = 0
    for observer in observers { sum &+= observer.answer(1) }
    return sum
  }
}

/// One that does not: in boxes, because copying a structure with a weak reference costs more than a
/// box.
struct WeakList: ObserverList {
  private final class Box: Sendable {
    weak let observer: (any Observer)?

    init(_ observer: any Observer) { self.observer = observer }
  }

  private var boxes: [Box] = []

  mutating func append(_ observer: any Observer) { boxes.append(Box(observer)) }

  mutating func remove(_ observer: any Observer) {
    guard let index = boxes.firstIndex(where: { $0.observer === observer }) else { return }
    boxes.remove(at: index)
  }

  func notify() {
    for box in boxes { box.observer?.notify(1) }
  }

  var answers: Int {
    var sum = 0
    for box in boxes { sum &+= box.observer?.answer(1) ?? 0 }
    return sum
  }
}
