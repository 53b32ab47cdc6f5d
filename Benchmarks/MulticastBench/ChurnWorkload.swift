internal import BenchmarkHarness
internal import Multicast
internal import Synchronization

extension Workload {
  /// One thread emits while another adds and removes as fast as it can.
  static var churn: Workload {
    Workload("churn", summary: "one thread invokes, another adds and removes") { settings in
      [Ownership.strong, .weak].map { Churn(ownership: $0, settings: settings).experiment }
    }
  }
}

private struct Churn {
  let ownership: Ownership
  let settings: Settings

  private static let metrics = [
    Metric("emissions", unit: "k/s", largerIsBetter: true),
    Metric("add + remove", unit: "k/s", largerIsBetter: true),
    Metric("p99 emission", unit: "ns"),
    Metric("longest emission", unit: "ns"),
    // Of the emissions of a thread that nothing disturbs.
    Metric("share of undisturbed", unit: "", largerIsBetter: true),
  ]

  private let size = 10

  var experiment: Experiment {
    Experiment("churn/\(ownership)", detail: "N = \(size)", sampling: .few) {
      [1_650, 2_800].map(changingSlot) + StorageStrategy.allCases.map(measured)
    }
  }

  /// The least that a list costs whose emissions call what another thread adds and removes: one
  /// slot changes, and points to an entry that this thread has just written. No lock, no memory
  /// management, nothing that says who reads.
  ///
  /// - Parameter rate: pairs per millisecond.
  private func changingSlot(_ rate: Int) -> Case {
    let listeners = Listeners(size)
    let list = BareList<any Observer>(listeners.observers.map { $0 })
    return Case(
      "a slot, \(rate) k/s", size: size, threads: 2, metrics: Self.metrics,
      iterations: settings.isQuick ? 20_000 : 50_000
    ) { iterations in
      let observer = makeObserver(opaque(0))
      let slot = ChangingSlot(list, observer)
      let undisturbed = Emitter(emissions: iterations) { slot.notify() }
      _ = ThreadTeam.run(1) { _ in undisturbed.run() }
      let emitter = Emitter(emissions: iterations) { slot.notify() }
      _ = ThreadTeam.run(2) { thread in
        if thread == 0 {
          emitter.run()
          slot.stop()
        } else {
          slot.change(pairsPerMillisecond: rate, observer)
        }
      }
      try WrongResult.check(
        "a slot", delivered: listeners.takeReceived(), expected: 2 * iterations * size)
      return Self.results(
        undisturbed, emitter, iterations, pairs: slot.pairs, elapsed: slot.elapsed)
    }
  }

  private static func results(
    _ undisturbed: Emitter, _ emitter: Emitter, _ iterations: Int, pairs: Int, elapsed: Int
  ) -> [Double] {
    let latency = Distribution(emitter.latencies.map(Double.init))
    return [
      Double(iterations) / Double(emitter.elapsed) * 1e6, Double(pairs) / Double(elapsed) * 1e6,
      latency.percentile(99), latency.maximum,
      Double(undisturbed.elapsed) / Double(emitter.elapsed),
    ]
  }

  private func measured(_ storage: StorageStrategy) -> Case {
    let listeners = Listeners(size)
    let hub = listeners.hub(storage, ownership)
    let ownership = ownership
    return Case(
      storage.rawValue, size: size, threads: 2, metrics: Self.metrics,
      iterations: settings.isQuick ? 20_000 : 50_000
    ) { iterations in
      let undisturbed = Emitter(emissions: iterations) { hub.notifyAll() }
      _ = ThreadTeam.run(1) { _ in undisturbed.run() }
      let emitter = Emitter(emissions: iterations) { hub.notifyAll() }
      let churner = Churner(hub, ownership)
      _ = ThreadTeam.run(2) { thread in
        if thread == 0 {
          emitter.run()
          churner.stop()
        } else {
          churner.run()
        }
      }
      try WrongResult.check(
        storage.rawValue, delivered: listeners.takeReceived(), expected: 2 * iterations * size)
      return Self.results(
        undisturbed, emitter, iterations, pairs: churner.pairs, elapsed: churner.elapsed)
    }
  }
}

/// A list of observers, and a slot that one thread reads in each emission, and another fills and
/// empties.
private final class ChangingSlot: @unchecked Sendable {
  // Sendable: `slot` and `isStopped` are atomic; a thread writes an entry long before it is in the
  // slot again; the rest is used by one thread, and by others after it was joined.
  private typealias Slot = BareList<any Observer>.Slot

  private let list: BareList<any Observer>
  /// Entries as a list would allocate them. A registration takes the next one.
  private let entries: [UnsafeMutablePointer<Slot>]
  private let slot = Atomic<UnsafeMutablePointer<BareList<any Observer>.Slot>?>(nil)
  private let isStopped = Atomic(false)
  private(set) var pairs = 0
  private(set) var elapsed = 0

  /// The entries are never freed.
  init(_ list: BareList<any Observer>, _ observer: any Observer) {
    self.list = list
    entries = (0..<1024).map { _ in
      let entry = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 64)
        .bindMemory(to: Slot.self, capacity: 1)
      entry.initialize(to: Slot(element: observer))
      return entry
    }
  }

  func notify() {
    BareLoop.notify(list, 1)
    slot.load(ordering: .acquiring)?.pointee.element.notify(1)
  }

  func change(pairsPerMillisecond rate: Int, _ observer: any Observer) {
    let start = MonotonicClock.nanoseconds
    repeat {
      let entry = entries[pairs % entries.count]
      entry.pointee = Slot(element: observer)
      wait(for: 2 * pairs, rate, since: start)
      slot.store(entry, ordering: .releasing)
      wait(for: 2 * pairs + 1, rate, since: start)
      slot.store(nil, ordering: .releasing)
      pairs += 1
    } while !isStopped.load(ordering: .relaxed)
    elapsed = MonotonicClock.nanoseconds - start
  }

  /// Waits for the time at which a change is due.
  private func wait(for change: Int, _ rate: Int, since start: Int) {
    while (MonotonicClock.nanoseconds - start) * rate * 2 < change * 1_000_000 {}
  }

  func stop() { isStopped.store(true, ordering: .relaxed) }
}

/// The thread that emits.
private final class Emitter: @unchecked Sendable {
  // Sendable: used by one thread, and by others after it was joined.
  private let emit: () -> Void
  private(set) var latencies: [Int]
  private(set) var elapsed = 0

  init(emissions: Int, _ emit: @escaping () -> Void) {
    self.emit = emit
    latencies = Array(repeating: 0, count: emissions)
  }

  func run() {
    let start = MonotonicClock.nanoseconds
    var last = start
    for emission in latencies.indices {
      emit()
      let now = MonotonicClock.nanoseconds
      latencies[emission] = now - last
      last = now
    }
    elapsed = last - start
  }
}

/// The thread that adds and removes a delegate of its own, over and over.
private final class Churner: @unchecked Sendable {
  // Sendable: `isStopped` is atomic; the rest is used by one thread, and by others after it was
  // joined.
  private let hub: MulticastDelegate<any Observer>
  private let ownership: Ownership
  private let isStopped = Atomic(false)
  private(set) var pairs = 0
  private(set) var elapsed = 0

  init(_ hub: MulticastDelegate<any Observer>, _ ownership: Ownership) {
    self.hub = hub
    self.ownership = ownership
  }

  func run() {
    let observer = makeObserver(opaque(0))
    let start = MonotonicClock.nanoseconds
    repeat {
      hub.add(observer, ownership: ownership).cancel()
      pairs += 1
    } while !isStopped.load(ordering: .relaxed)
    elapsed = MonotonicClock.nanoseconds - start
  }

  func stop() { isStopped.store(true, ordering: .relaxed) }
}
