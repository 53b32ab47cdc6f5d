internal import BenchmarkHarness
internal import Multicast

/// Delegates of several classes, behind an existential: no call is resolved at compile time.
///
/// The loops are written out here and in `ConcreteDelegates`: a generic function would measure how
/// the compiler calls through its parameter, and not what users write.
struct ExistentialDelegates: DelegateKind {
  static let name = "existential"

  /// A loop of the floor, strong or weak.
  enum BareDelegates {
    case strong(BareList<any Observer>)
    case weak(BareWeakList)
  }

  private let listeners: Listeners
  private var delegates: [any Observer] { listeners.observers.map { $0 } }

  init(_ count: Int) {
    listeners = Listeners(count)
  }

  func takeReceived() -> Int { listeners.takeReceived() }

  func hub(_ ownership: Ownership) -> MulticastDelegate<any Observer> {
    listeners.hub(.waitFree, ownership)
  }

  func bareList(_ ownership: Ownership) -> BareDelegates {
    switch ownership {
    case .strong: .strong(BareList(delegates))
    case .weak: .weak(BareWeakList(listeners.observers))
    }
  }
}

// MARK: - Registering

extension ExistentialDelegates {
  func handlers(
    _ ownership: Ownership, _ captured: Captured
  ) -> [@Sendable (Int) -> Void] {
    let (factor, source) = (captured.factor, captured.source)
    return delegates.map { delegate in
      switch (ownership, captured.captures) {
      case (.strong, .one): { delegate.notify($0) }
      case (.strong, .several): { delegate.notify($0 &* factor &+ source.offset) }
      case (.weak, .one): { [weak delegate] in delegate?.notify($0) }
      case (.weak, .several):
        { [weak delegate] in delegate?.notify($0 &* factor &+ source.offset) }
      }
    }
  }

  func subscribe(
    to hub: EventHub<Int>, _ ownership: Ownership, _ captured: Captured
  ) -> [EventSubscription] {
    delegates.map {
      ownership == .weak
        ? subscribe(weakly: $0, to: hub, captured) : subscribe(strongly: $0, to: hub, captured)
    }
  }

  // The closures of `handlers`, written in the call: a function in a variable would be called
  // through two others.
  private func subscribe(
    strongly delegate: any Observer, to hub: EventHub<Int>, _ captured: Captured
  ) -> EventSubscription {
    let (factor, source) = (captured.factor, captured.source)
    return switch captured.captures {
    case .one: hub.subscribe { delegate.notify($0) }
    case .several: hub.subscribe { delegate.notify($0 &* factor &+ source.offset) }
    }
  }

  private func subscribe(
    weakly delegate: some Observer, to hub: EventHub<Int>, _ captured: Captured
  ) -> EventSubscription {
    let (factor, source) = (captured.factor, captured.source)
    return switch captured.captures {
    case .one: hub.subscribe(with: delegate) { $0.notify($1) }
    case .several: hub.subscribe(with: delegate) { $0.notify($1 &* factor &+ source.offset) }
    }
  }
}

// MARK: - What is measured

extension ExistentialDelegates {
  @inline(never)
  static func notify(_ list: BareDelegates, _ captured: Captured, _ iterations: Int) {
    switch (list, captured.captures) {
    case (.strong(let list), .one):
      for iteration in 0..<iterations {
        let event = captured.event(iteration)
        for index in 0..<list.count { list.slots[index].element.notify(event) }
      }
    case (.strong(let list), .several):
      let (factor, source) = (captured.factor, captured.source)
      for iteration in 0..<iterations {
        let event = captured.event(iteration)
        for index in 0..<list.count {
          list.slots[index].element.notify(event &* factor &+ source.offset)
        }
      }
    case (.weak(let list), .one):
      for iteration in 0..<iterations {
        let event = captured.event(iteration)
        for index in 0..<list.count { list.slots[index].observer?.notify(event) }
      }
    case (.weak(let list), .several):
      let (factor, source) = (captured.factor, captured.source)
      for iteration in 0..<iterations {
        let event = captured.event(iteration)
        for index in 0..<list.count {
          list.slots[index].observer?.notify(event &* factor &+ source.offset)
        }
      }
    }
  }

  @inline(never)
  static func forEach(
    _ hub: MulticastDelegate<any Observer>, _ captured: Captured, _ iterations: Int
  ) {
    let (factor, source) = (captured.factor, captured.source)
    switch captured.captures {
    case .one:
      for iteration in 0..<iterations {
        let event = captured.event(iteration)
        hub.forEach { $0.notify(event) }
      }
    case .several:
      for iteration in 0..<iterations {
        let event = captured.event(iteration)
        hub.forEach { $0.notify(event &* factor &+ source.offset) }
      }
    }
  }

  @inline(never)
  static func invoke(
    _ hub: MulticastDelegate<any Observer>, _ captured: Captured, _ iterations: Int
  ) {
    let (factor, source) = (captured.factor, captured.source)
    switch captured.captures {
    case .one:
      for iteration in 0..<iterations {
        let event = captured.event(iteration)
        hub.invoke { $0.notify(event) }
      }
    case .several:
      for iteration in 0..<iterations {
        let event = captured.event(iteration)
        hub.invoke { $0.notify(event &* factor &+ source.offset) }
      }
    }
  }

  @inline(never)
  static func collect(
    _ hub: MulticastDelegate<any Observer>, _ captured: Captured, _ iterations: Int
  ) -> Int {
    let (factor, source) = (captured.factor, captured.source)
    var count = 0
    for iteration in 0..<iterations {
      let event = captured.event(iteration)
      var answers: [Result<Int, Never>] = []
      switch captured.captures {
      case .one: hub.forEach { answers.append(.success($0.answer(event))) }
      case .several:
        hub.forEach { answers.append(.success($0.answer(event &* factor &+ source.offset))) }
      }
      count += answers.count
    }
    return count
  }

  @inline(never)
  static func results(
    _ hub: MulticastDelegate<any Observer>, _ captured: Captured, _ iterations: Int
  ) -> Int {
    let (factor, source) = (captured.factor, captured.source)
    var count = 0
    for iteration in 0..<iterations {
      let event = captured.event(iteration)
      switch captured.captures {
      case .one: count += hub.results { $0.answer(event) }.count
      case .several:
        count += hub.results { $0.answer(event &* factor &+ source.offset) }.count
      }
    }
    return count
  }
}
