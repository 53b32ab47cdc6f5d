// The loops a hub is compared with. What they iterate over is read through pointers and is not
// copyable: the usual `for observer in observers` retains and releases each element.

/// What a strong hub cannot beat: `any Observer` in an array.
struct BareList<Element: Sendable>: @unchecked Sendable {
  // Sendable: filled once, then only read.
  struct Slot: ~Copyable {
    let element: Element

    // Not inlined too early, or else an existential without a class bound is copied.
    borrowing func pass(to body: (Element) -> Void) { body(element) }
  }

  let slots: UnsafeMutablePointer<Slot>
  let count: Int

  /// The list is never freed.
  init(_ elements: some Collection<Element>) {
    count = elements.count
    slots = .allocate(capacity: count)
    for (index, element) in elements.enumerated() {
      (slots + index).initialize(to: Slot(element: element))
    }
  }
}

/// What a weak hub is measured against: the cheapest loop over Swift's own weak references.
struct BareWeakList: @unchecked Sendable {
  // Sendable: filled once, then only read; loading a weak reference is safe on many threads.
  struct Slot: ~Copyable {
    weak var observer: (any Observer)?
  }

  let slots: UnsafeMutablePointer<Slot>
  let count: Int

  /// The list is never freed, and does not keep the observers.
  init(_ observers: some Collection<any Observer & OpenObserver>) {
    count = observers.count
    slots = .allocate(capacity: count)
    for (index, observer) in observers.enumerated() {
      (slots + index).initialize(to: Slot(observer: observer))
    }
  }
}

/// The usual list: a `var` of a class.
final class NaiveList {
  var observers: [any Observer]

  init(_ observers: some Sequence<any Observer>) {
    self.observers = Array(observers)
  }
}

enum BareLoop {
  @inline(never)
  static func notify(_ list: BareList<any Observer>, _ iterations: Int) {
    for _ in 0..<iterations {
      for index in 0..<list.count { list.slots[index].element.notify(1) }
    }
  }

  @inline(never)
  static func notify(_ list: BareList<any OpenObserver>, _ iterations: Int) {
    for _ in 0..<iterations {
      for index in 0..<list.count { list.slots[index].pass { $0.notify(1) } }
    }
  }

  @inline(never)
  static func notify(_ list: BareWeakList, _ iterations: Int) {
    for _ in 0..<iterations {
      for index in 0..<list.count { list.slots[index].observer?.notify(1) }
    }
  }

  @inline(never)
  static func notify(_ list: NaiveList, _ iterations: Int) {
    for _ in 0..<iterations {
      for observer in list.observers { observer.notify(1) }
    }
  }

  @inline(never)
  static func answers(_ list: BareList<any Observer>, _ iterations: Int) -> Int {
    var sum = 0
    for _ in 0..<iterations {
      for index in 0..<list.count { sum &+= list.slots[index].element.answer(1) }
    }
    return sum
  }

  @inline(never)
  static func answers(_ list: BareWeakList, _ iterations: Int) -> Int {
    var sum = 0
    for _ in 0..<iterations {
      for index in 0..<list.count { sum &+= list.slots[index].observer?.answer(1) ?? 0 }
    }
    return sum
  }
}
