import Dispatch
import MulticastMacros
import MulticastTestSupport
import Testing

// Where delegates are called and destroyed.

@Multicast @MainActor
protocol Shown: AnyObject, CustomStringConvertible {
  func show()
}

@Multicast
protocol PlacedLoading: AnyObject, Sendable {
  @Answer(.all) func inOrder() async -> [Bool]
  @Answer(.all, calls: .concurrent) func atOnce() async -> [Bool]
}

/// Whether the caller runs on the queue of the main actor.
private enum MainActorQueue {
  private static let key: DispatchSpecificKey<Void> = {
    let key = DispatchSpecificKey<Void>()
    DispatchQueue.main.setSpecific(key: key, value: ())
    return key
  }()

  static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) != nil }
}

/// Counts those that are destroyed elsewhere than on the main actor.
private final class Label {
  private let elsewhere: Counter

  init(_ elsewhere: Counter) { self.elsewhere = elsewhere }

  deinit { if !MainActorQueue.isCurrent { elsewhere.add() } }
}

extension Label: @MainActor Shown {
  var description: String { "label" }
  func show() {}
}

private final class LoadingDelegate: PlacedLoading {
  func inOrder() async -> [Bool] { [MainActorQueue.isCurrent] }
  func atOnce() async -> [Bool] { [MainActorQueue.isCurrent] }
}

@Suite("A composite calls and destroys delegates where they belong")
struct PlaceTests {
  @Test(
    "delegates that are not Sendable are destroyed on their actor, whatever others call",
    arguments: 0..<5)
  @MainActor func destroyedOnTheActor(_ strategy: Int) async {
    let (elsewhere, called, isOver) = (Counter(), Counter(), Guarded(false))
    let composite = [
      MulticastShown(storage: .waitFree), MulticastShown(storage: .locked),
      MulticastShown(storage: .copyOnWrite), MulticastShown(storage: .readerWriterLock),
      MulticastShown(storage: .barrierQueue),
    ][strategy]
    await withTaskGroup { group in
      for describes in [false, true] {
        group.addTask { @concurrent in
          while !isOver.withLock({ $0 }) {
            if describes {
              for _ in 0..<10 { #expect(composite.description.contains("Shown")) }
            } else {
              for _ in 0..<10 { composite.invoke { _ in called.add() } }
            }
            // Otherwise the calls that wait would delay the main actor more and more.
            await MainActor.run {}
          }
        }
      }
      for _ in 0..<1000 {
        composite.add(Label(elsewhere), ownership: .strong)
        composite.delegates.add(Label(elsewhere), ownership: .strong, on: .main)
        await Task.yield()
        composite.removeAll()
      }
      isOver.withLock { $0 = true }
    }
    #expect(elsewhere.value == 0)
  }

  @Test("an invocation from elsewhere calls those that are registered, once each")
  @MainActor func invocation() async {
    let (elsewhere, called) = (Counter(), Counter())
    let composite = MulticastShown()
    let weak = Label(elsewhere)
    composite.add(weak)
    composite.add(Label(elsewhere), ownership: .strong)
    let blocked = composite.add(Label(elsewhere), ownership: .strong)
    blocked.block()
    // While the main thread waits, so that what it changes is changed before the calls.
    func invokeElsewhere() -> Int {
      let delivered = Guarded(0)
      RunningThread {
        let count = composite.invoke { _ in
          #expect(MainActorQueue.isCurrent)
          called.add()
        }
        delivered.withLock { $0 = count }
      }.join()
      return delivered.withLock { $0 }
    }
    let delivered = invokeElsewhere()
    blocked.unblock()  // After the invocation, as what follows.
    composite.add(Label(elsewhere), ownership: .strong)
    #expect(delivered == 2)
    await eventually { called.value >= 2 }
    composite.invoke { _ in called.add() }
    await eventually { called.value >= 6 }
    await Task { @MainActor in }.value  // Later than what the invocations have enqueued.
    #expect(called.value == 6)
    withExtendedLifetime(weak) {}
  }

  @Test("a delegate on the main actor is called there, in order and at once")
  @MainActor func concurrentCallsOnTheMainActor() async {
    let (composite, loaders) = (MulticastPlacedLoading(), (0..<3).map { _ in LoadingDelegate() })
    for loader in loaders { composite.add(loader, on: .main) }
    #expect(await composite.inOrder() == [true, true, true])
    let atOnce = await composite.atOnce()
    #expect(atOnce == [true, true, true])
    let free = LoadingDelegate()
    composite.add(free)
    #expect(await composite.atOnce() == [true, true, true, false])
  }

  @Test("calls that suspend free the memory that is kept for dead delegates")
  func pruning() async {
    let composite = MulticastPlacedLoading()
    for calls in [MulticastPlacedLoading.inOrder, MulticastPlacedLoading.atOnce] {
      composite.add(LoadingDelegate())
      #expect(await calls(composite)() == [])
      #expect(composite.delegates.prune() == 0)
    }
  }
}
