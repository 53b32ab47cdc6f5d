internal import BenchmarkHarness
internal import Multicast

extension Workload {
  /// What being registered weakly costs a delegate elsewhere in the program.
  static var retain: Workload {
    Workload("retain", summary: "a delegate's own retain and release, before and after add") { _ in
      [Experiment("retain", requirements: requirements, cases: cases)]
    }
  }

  /// A weak reference of Swift's gives its object a side table for life. The portable form has one,
  /// so it promises nothing here.
  private static var requirements: [Requirement] {
    guard !WeakForm.isPortable else { return [] }
    return [
      Requirement("retain + release once registered weakly, of before", .atMost(1.1)) {
        $0.ratio("registered weakly", to: "before")
      }
    ]
  }

  private static func cases() -> [Case] {
    let untouched = makeObserver(opaque(0))
    let registered = makeObserver(opaque(0))
    let hub = MulticastDelegate<any Observer>()
    hub.add(registered)
    let weaklyReferenced = makeObserver(opaque(0))
    let weakList = BareWeakList([weaklyReferenced])
    return [
      measured("before", untouched, isBaseline: true),
      measured("registered weakly", registered, keeping: hub),
      measured("weakly referenced", weaklyReferenced, keeping: weakList),
    ]
  }

  private static func measured(
    _ name: String, _ object: AnyObject, isBaseline: Bool = false, keeping: Any? = nil
  ) -> Case {
    Case(name, isBaseline: isBaseline, metrics: [.time]) { iterations in
      let start = MonotonicClock.nanoseconds
      retainAndRelease(.passUnretained(object), iterations)
      let elapsed = MonotonicClock.nanoseconds - start
      blackHole(keeping)
      return [Double(elapsed) / Double(iterations)]
    }
  }
}

private func retainAndRelease(_ object: Unmanaged<AnyObject>, _ iterations: Int) {
  for _ in 0..<iterations {
    retain(object)
    release(object)
  }
}

// Two functions, because the optimiser removes a pair that it can see.

@inline(never)
private func retain(_ object: Unmanaged<AnyObject>) {
  _ = object.retain()
}

@inline(never)
private func release(_ object: Unmanaged<AnyObject>) {
  object.release()
}
