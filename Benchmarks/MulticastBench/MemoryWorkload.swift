internal import BenchmarkHarness
internal import Multicast

extension Workload {
  /// What the heap holds, with what the allocator adds.
  static var memory: Workload {
    Workload("memory", summary: "bytes for each registration and for an empty hub") { settings in
      guard Heap.bytesInUse != nil else { return [] }
      return [Ownership.weak, .strong].map { ownership in
        Experiment(
          "memory/registration/\(ownership)", sampling: .few,
          requirements: ownership == .weak ? [registrationLimit] : []
        ) {
          settings.sizes(or: [large]).flatMap { size in
            StorageStrategy.allCases.map { registrations($0, ownership, size) }
          }
        }
      } + [
        Experiment("memory/hub", sampling: .few, requirements: [hubLimit]) {
          StorageStrategy.allCases.map(emptyHubs)
        },
        Experiment("memory/event hub", sampling: .few) {
          StorageStrategy.allCases.map(emptyEventHubs)
        },
        Experiment("memory/subscription", sampling: .few, requirements: [subscriptionLimit]) {
          settings.sizes(or: [10_000, large]).flatMap { size in
            StorageStrategy.allCases.map { subscriptions($0, size) }
          }
        },
      ]
    }
  }

  private static let large = 100_000
  private static let bytes = Metric("memory", unit: "bytes")

  private static var registrationLimit: Requirement {
    Requirement("memory of a weak registration at \(large), in bytes", .atMost(104)) {
      $0.best("waitFree", size: large, bytes)
    }
  }

  private static var hubLimit: Requirement {
    Requirement("memory of an empty hub, in bytes", .atMost(256)) { $0.best("waitFree", bytes) }
  }

  private static var subscriptionLimit: Requirement {
    Requirement("memory of a subscription with its handle at \(large), in bytes", .atMost(220)) {
      $0.best("waitFree", size: large, bytes)
    }
  }

  private static func registrations(
    _ storage: StorageStrategy, _ ownership: Ownership, _ size: Int
  ) -> Case {
    Case(storage.rawValue, size: size, metrics: [bytes], iterations: 1) { _ in
      let listeners = Listeners(size)
      // The delegates' side tables, where a weak reference needs one, do not count.
      if WeakForm.isPortable { blackHole(BareWeakList(listeners.observers)) }
      let hub = MulticastDelegate<any Observer>(storage: storage)
      let before = Heap.bytesInUse ?? 0
      for observer in listeners.observers { hub.add(observer, ownership: ownership) }
      let after = Heap.bytesInUse ?? 0
      guard hub.count == size else { throw WrongResult("\(storage) holds \(hub.count)") }
      return [Double(after - before) / Double(size)]
    }
  }

  private static func emptyHubs(_ storage: StorageStrategy) -> Case {
    Case(storage.rawValue, metrics: [bytes], iterations: 1000) { count in
      var hubs: [MulticastDelegate<any Observer>] = []
      hubs.reserveCapacity(count)
      let before = Heap.bytesInUse ?? 0
      for _ in 0..<count { hubs.append(MulticastDelegate(storage: storage)) }
      let after = Heap.bytesInUse ?? 0
      blackHole(hubs)
      return [Double(after - before) / Double(count)]
    }
  }

  private static func emptyEventHubs(_ storage: StorageStrategy) -> Case {
    Case(storage.rawValue, metrics: [bytes], iterations: 1000) { count in
      var hubs: [EventHub<Int>] = []
      hubs.reserveCapacity(count)
      let before = Heap.bytesInUse ?? 0
      for _ in 0..<count { hubs.append(EventHub(storage: storage)) }
      let after = Heap.bytesInUse ?? 0
      blackHole(hubs)
      return [Double(after - before) / Double(count)]
    }
  }

  /// With its handle, and with a closure that captures an observer.
  private static func subscriptions(_ storage: StorageStrategy, _ size: Int) -> Case {
    Case(storage.rawValue, size: size, metrics: [bytes], iterations: 1) { _ in
      let listeners = Listeners(size)
      let hub = EventHub<Int>(storage: storage)
      var handles: [EventSubscription] = []
      handles.reserveCapacity(size)
      let before = Heap.bytesInUse ?? 0
      for observer in listeners.observers {
        handles.append(hub.subscribe { observer.notify($0) })
      }
      let after = Heap.bytesInUse ?? 0
      try WrongResult.check(storage.rawValue, delivered: hub.send(1), expected: size)
      withExtendedLifetime(handles) {}
      return [Double(after - before) / Double(size)]
    }
  }
}
