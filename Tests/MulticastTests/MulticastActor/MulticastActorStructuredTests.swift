import MulticastTestSupport
import Synchronization
import Testing

@testable import Multicast

/// How a callback awaits work in a structured child task.
enum StructuredChild: CaseIterable {
  case asyncLet
  case group
  case discardingGroup
  case grandchild

  func run(_ work: @escaping @Sendable () async -> Void) async {
    switch self {
    case .asyncLet:
      async let done: Void = work()
      await done
    case .group:
      await withTaskGroup { group in
        group.addTask { await work() }
        await group.waitForAll()
      }
    case .discardingGroup:
      await withDiscardingTaskGroup { group in group.addTask { await work() } }
    case .grandchild:
      await withTaskGroup { group in
        group.addTask {
          async let done: Void = work()
          await done
        }
      }
    }
  }
}

@Suite("A structured child of a callback belongs to its invocation", .timeLimit(.minutes(10)))
struct MulticastActorStructuredTests {
  @Test(
    "in a serialized hub, its invocation runs at once", arguments: StructuredChild.allCases,
    WayOfCalling.allCases)
  func invokes(child: StructuredChild, way: WayOfCalling) async {
    let journal = Journal()
    let hub = AwaitingHub(serialized: true)
    let delegate = AwaitedObserver(0) { [weak hub] value in
      journal.record(value)
      if value < 3, let hub { await child.run { await way.call(hub, value + 1) } }
      journal.record(-value)
    }
    hub.add(delegate)
    for outer in WayOfCalling.allCases {
      await outer.call(hub, 1)
      #expect(journal.take() == [1, 2, 3, -3, -2, -1])
    }
  }

  @Test(
    "also where the invocation is itself inside the body of a task group",
    arguments: StructuredChild.allCases, WayOfCalling.allCases)
  func insideTheBodyOfAGroup(child: StructuredChild, way: WayOfCalling) async {
    let journal = Journal()
    let hub = AwaitingHub(serialized: true)
    let delegate = AwaitedObserver(0) { [weak hub] value in
      journal.record(value)
      if value == 1, let hub { await child.run { await way.call(hub, 2) } }
    }
    hub.add(delegate)
    await withTaskGroup(of: Void.self) { _ in await way.call(hub, 1) }
    #expect(journal.take() == [1, 2])
  }

  @Test(
    "also through the callbacks of other hubs", arguments: StructuredChild.allCases,
    WayOfCalling.allCases)
  func throughOtherHubs(child: StructuredChild, way: WayOfCalling) async {
    for serialized in [false, true] {
      let journal = Journal()
      let hub = AwaitingHub(serialized: true)
      let other = AwaitingHub(serialized: serialized)
      let delegate = AwaitedObserver(0) { [weak other] value in
        journal.record(value)
        if value == 1, let other { await child.run { await way.call(other, 2) } }
      }
      let indirect = AwaitedObserver(1) { [weak hub] value in
        journal.record(value)
        if let hub { await child.run { await way.call(hub, 3) } }
      }
      hub.add(delegate)
      other.add(indirect)
      for outer in WayOfCalling.allCases {
        await outer.call(hub, 1)
        #expect(journal.take() == [1, 2, 3])
      }
    }
  }

  @Test("a child of a task that a callback merely starts waits in the queue")
  func aChildOfAnUnstructuredTask() async {
    let journal = Journal()
    let hub = AwaitingHub(serialized: true)
    let tasks = Atomic(0)
    let ended = Atomic(0)
    let delegate = AwaitedObserver(0) { [weak hub] value in
      guard value == 1, let hub else { return journal.record(value) }
      for child in StructuredChild.allCases {
        let work: @Sendable () async -> Void = {
          await child.run { await hub.invoke { await $0.receive(2) } }
          ended.add(1, ordering: .relaxed)
        }
        Task { await work() }
        tasks.add(1, ordering: .relaxed)
        if #available(macOS 26, iOS 26, tvOS 26, visionOS 26, *) {
          Task.immediate { await work() }
          tasks.add(1, ordering: .relaxed)
        }
      }
      await yieldTask { await hub.waitingCount == tasks.load(ordering: .relaxed) }
      journal.record(1)
    }
    hub.add(delegate)
    await withTaskGroup(of: Void.self) { _ in await hub.invoke { await $0.receive(1) } }
    let count = tasks.load(ordering: .relaxed)
    await yieldTask { ended.load(ordering: .relaxed) == count }
    #expect(journal.take() == [1] + Array(repeating: 2, count: count))
  }

  @Test(
    "children that invoke at once all belong to the callback, and the invocation goes on after them"
  )
  func manyChildren() async {
    let hub = AwaitingHub(serialized: true)
    let inside = Atomic(0)
    let tracker = LifetimeTracker()
    do {
      let delegate = AwaitedObserver(0, tracker: tracker) { [weak hub] value in
        guard let hub, value == 1 else { return await Task.yield() }
        #expect(inside.add(1, ordering: .relaxed).newValue == 1)
        await withTaskGroup { group in
          for _ in 0..<8 { group.addTask { await hub.invoke { await $0.receive(2) } } }
        }
        inside.subtract(1, ordering: .relaxed)
      }
      hub.add(delegate)
      await withTaskGroup { group in
        for caller in 0..<8 {
          group.addTask {
            let way = WayOfCalling.allCases[caller % WayOfCalling.allCases.count]
            for _ in 0..<20 { await way.call(hub) }
          }
        }
      }
      #expect(delegate.calls == 8 * 20 * 9)
    }
    #expect(tracker.created == tracker.destroyed)
  }

  @Test("an actor that is a delegate of many serialized hubs outlives their invocations")
  func anActorOfManyHubs() async {
    let journal = Journal()
    let delegate = AwaitedActor(1, journal: journal)
    await withTaskGroup { group in
      for _ in 0..<8 {
        group.addTask {
          for round in 0..<100 {
            let hub = AwaitingHub(serialized: true)
            hub.add(delegate)
            await WayOfCalling.allCases[round % WayOfCalling.allCases.count].call(hub)
          }
        }
      }
    }
    #expect(journal.take() == Array(repeating: 1, count: 800))
  }

  @Test(
    "in a serialized hub, its cancelAndWait returns at once, as the callback's own does",
    arguments: StructuredChild.allCases, WayOfCalling.allCases)
  func cancelsAndWaits(child: StructuredChild, way: WayOfCalling) async {
    let hub = AwaitingHub(serialized: true)
    let registration = Holder<Registration<any Awaited>>(nil)
    let delegate = AwaitedObserver(0) { _ in
      guard let registration = registration.value else { return }
      await child.run { await registration.cancelAndWait() }
    }
    registration.value = hub.add(delegate)
    await way.call(hub)
    await way.call(hub)
    #expect(delegate.calls == 1)
  }

  @Test("its cancelAndWait for another delegate of the same invocation waits")
  func cancelsAndWaitsForAnother() async {
    let hub = AwaitingHub(serialized: true)
    let registration = Holder<Registration<any Awaited>>(nil)
    let inside = AsyncGate()
    let leave = AsyncGate()
    let other = AwaitedObserver(0) { _ in
      inside.open()
      await leave.wait()
    }
    let hasLeft = Holder(false)
    let delegate = AwaitedObserver(1) { _ in
      await inside.wait()
      async let done: Void = registration.value!.cancelAndWait()
      await yieldTask { registration.value?.isActive == false }
      hasLeft.value = true
      leave.open()
      await done
      #expect(hasLeft.value == true)
    }
    registration.value = hub.add(other)
    hub.add(delegate)
    await WayOfCalling.concurrently.call(hub)
    #expect(other.calls == 1)
  }
}
