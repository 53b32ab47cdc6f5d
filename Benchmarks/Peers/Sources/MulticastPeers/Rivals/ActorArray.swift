internal import BenchmarkHarness

/// An array in an actor. Its users are tasks: each loop runs in one, and waits for each call.
final class ActorArray<List: ObserverList>: Rival {
  private let list = IsolatedList<List>()

  init(_: Reception) {}

  func add(_ observer: any Observer) -> any Observer {
    AsyncWork.run { [list] in await list.append(observer) }
    return observer
  }

  func remove(_ token: any Observer) {
    AsyncWork.run { [list] in await list.remove(token) }
  }

  func notify(_ iterations: Int) {
    AsyncWork.run { [list] in
      for _ in 0..<iterations { await list.notify() }
    }
  }

  func answers(_ iterations: Int) -> Int {
    AsyncWork.run { [list] in
      var sum = 0
      for _ in 0..<iterations { sum &+= await list.answers }
      return sum
    }
  }

  /// In one task, whose jobs run on other threads too.
  static func register(
    _ observers: ContiguousArray<any Observer & OpenObserver>, with systems: [ActorArray],
    whenAdded: () -> Void
  ) -> RegistrationTimes {
    let lists = systems.map(\.list)
    let adding = AsyncWork.run {
      let start = ProcessClock.nanoseconds
      for list in lists {
        for observer in observers { await list.append(observer) }
      }
      return ProcessClock.nanoseconds - start
    }
    whenAdded()
    let removing = AsyncWork.run {
      let start = ProcessClock.nanoseconds
      for list in lists {
        for observer in observers { await list.remove(observer) }
      }
      return ProcessClock.nanoseconds - start
    }
    return RegistrationTimes(adding: adding, removing: removing)
  }

  func emit(_ latencies: inout [Int]) {
    let count = latencies.count
    latencies = AsyncWork.run { [list] in
      var latencies: [Int] = []
      latencies.reserveCapacity(count)
      var last = MonotonicClock.nanoseconds
      for _ in 0..<count {
        await list.notify()
        let now = MonotonicClock.nanoseconds
        latencies.append(now - last)
        last = now
      }
      return latencies
    }
  }

  func churn(_ observer: any Observer, until flag: StopFlag) -> Int {
    AsyncWork.run { [list] in
      var pairs = 0
      repeat {
        await list.append(observer)
        await list.remove(observer)
        pairs += 1
      } while !flag.isSet
      return pairs
    }
  }
}

private actor IsolatedList<List: ObserverList> {
  private var list = List()

  func append(_ observer: any Observer) { list.append(observer) }

  func remove(_ observer: any Observer) { list.remove(observer) }

  func notify() { list.notify() }

  var answers: Int { list.answers }
}
