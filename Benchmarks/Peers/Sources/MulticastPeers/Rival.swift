internal import BenchmarkHarness

/// A system under test.
///
/// What is measured are the loops below, each written in the words of the system. Those that have a
/// default are requirements all the same, so that they are specialised for each system.
protocol Rival: AnyObject, Sendable {
  /// What removes an observer.
  associatedtype Token

  init(_ reception: Reception)

  func add(_ observer: any Observer) -> Token
  func remove(_ token: Token)

  /// Notifies all observers so often.
  func notify(_ iterations: Int)
  /// Asks all observers so often, and returns the sum of their answers.
  func answers(_ iterations: Int) -> Int

  /// Adds `observers` one by one to each of `systems`, and removes each of them.
  static func register(
    _ observers: ContiguousArray<any Observer & OpenObserver>, with systems: [Self],
    whenAdded: () -> Void
  ) -> RegistrationTimes
  /// Notifies all observers as often as `latencies` has elements, and notes how long each time
  /// took.
  func emit(_ latencies: inout [Int])
  /// Adds and removes `observer` until `flag` is set, and returns how often.
  func churn(_ observer: any Observer, until flag: StopFlag) -> Int
}

/// The processor time in nanoseconds for all that was added and removed.
struct RegistrationTimes: Sendable {
  let adding: Int
  let removing: Int
}

extension Rival {
  static func register(
    _ observers: ContiguousArray<any Observer & OpenObserver>, with systems: [Self],
    whenAdded: () -> Void
  ) -> RegistrationTimes {
    var tokens: [Token] = []
    tokens.reserveCapacity(systems.count * observers.count)
    let start = ThreadClock.nanoseconds
    for system in systems {
      for observer in observers { tokens.append(system.add(observer)) }
    }
    let middle = ThreadClock.nanoseconds
    whenAdded()
    let restart = ThreadClock.nanoseconds
    var index = 0
    for system in systems {
      for _ in observers {
        system.remove(tokens[index])
        index += 1
      }
    }
    return RegistrationTimes(adding: middle - start, removing: ThreadClock.nanoseconds - restart)
  }

  /// Makes `count` systems, adds `observers` to each and removes them, and notifies those that are
  /// left.
  static func registerInNew(
    _ count: Int, _ reception: Reception,
    _ observers: ContiguousArray<any Observer & OpenObserver>, whenAdded: () -> Void = {}
  ) -> RegistrationTimes {
    let systems = (0..<count).map { _ in Self(reception) }
    let times = register(observers, with: systems, whenAdded: whenAdded)
    for system in systems { system.notify(1) }
    return times
  }

  func emit(_ latencies: inout [Int]) {
    var last = MonotonicClock.nanoseconds
    for emission in latencies.indices {
      notify(1)
      let now = MonotonicClock.nanoseconds
      latencies[emission] = now - last
      last = now
    }
  }

  func churn(_ observer: any Observer, until flag: StopFlag) -> Int {
    var pairs = 0
    repeat {
      remove(add(observer))
      pairs += 1
    } while !flag.isSet
    return pairs
  }
}

/// A system that sends values to closures.
protocol ClosureRival: Rival {
  func send(_ event: Event)
}

extension ClosureRival {
  func notify(_ iterations: Int) { _ = answers(iterations) }

  func answers(_ iterations: Int) -> Int {
    var sum = 0
    withUnsafeMutablePointer(to: &sum) { tally in
      for _ in 0..<iterations { send(Event(value: 1, tally: tally)) }
    }
    return sum
  }
}
