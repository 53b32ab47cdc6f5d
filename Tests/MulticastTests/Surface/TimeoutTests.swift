import Dispatch
import MulticastTestSupport
import Testing

@testable import Multicast

private let tooLong: [Duration] = [
  .seconds(Int64.max), .nanoseconds(Int64.max), .seconds(3_153_600_001), .seconds(1e20),
  .seconds(1.7e20),
]

private let over: [Duration] = [
  .zero, .nanoseconds(-1), .seconds(-1), .seconds(Int64.min), .nanoseconds(Int64.min),
  .seconds(-1.7e20), Duration(attoseconds: .min),
]

/// A clock whose instants are 64-bit counts of nanoseconds: it traps where those overflow.
private struct NarrowClock: Clock {
  struct Instant: InstantProtocol {
    var nanoseconds: Int64

    func advanced(by duration: Duration) -> Instant {
      let (seconds, attoseconds) = duration.components
      return Instant(
        nanoseconds: nanoseconds + seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
    func duration(to other: Instant) -> Duration { .nanoseconds(other.nanoseconds - nanoseconds) }
    static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }
  }

  var now: Instant { Instant(nanoseconds: 1_800_000_000 * 1_000_000_000) }
  var minimumResolution: Duration { .nanoseconds(1) }
  func sleep(until end: Instant, tolerance: Duration?) async throws {
    if end > now { await AsyncGate().waitUnlessCancelled() }
  }
}

@Suite("A timeout of more than 100 years is none, zero or less is over at once")
struct TimeoutTests {
  @Test("concurrent calls, with any clock, too long", .timeLimit(.minutes(10)), arguments: tooLong)
  func concurrentCallsTooLong(timeout: Duration) async {
    await answersInTime(timeout, ContinuousClock())
    await answersInTime(timeout, SuspendingClock())
    await answersInTime(timeout, ManualClock())
    await answersInTime(timeout, NarrowClock())
  }

  @Test("the longest timeout that there is does not run out", .timeLimit(.minutes(10)))
  func longest() async {
    await answersInTime(.seconds(3_153_600_000), ContinuousClock())
    await answersInTime(.seconds(3_153_600_000), SuspendingClock())
    await answersInTime(.seconds(3_153_600_000), ManualClock())
    await answersInTime(.seconds(3_153_600_000), NarrowClock())
  }

  private func answersInTime(_ timeout: Duration, _ clock: some Clock<Duration>) async {
    let hub = AwaitingHub()
    let delegates = (0..<3).map { id in
      AwaitedObserver(id) { _ in for _ in 0..<100 { await Task.yield() } }
    }
    for delegate in delegates { hub.add(delegate) }
    let results = await hub.invokeConcurrently(limit: 2, timeout: timeout, clock: clock) {
      await $0.receive(1)
      return $0.id
    }
    #expect(results.map { try? $0.get() } == [0, 1, 2])
    let last = await hub.lastResult(timeout: timeout, clock: clock) {
      await $0.receive(1)
      return $0.id
    }
    #expect(last == 2)
    let first = await hub.firstResult(timeout: timeout, clock: clock) {
      await $0.receive(1)
      return $0.id == 1 ? 1 : nil
    }
    #expect(first == 1)
    let all = await hub.allSatisfy(timeout: timeout, clock: clock) {
      await $0.receive(1)
      return true
    }
    #expect(all)
    let one = await hub.contains(timeout: timeout, clock: clock) {
      await $0.receive(1)
      return $0.id == 2
    }
    #expect(one)
  }

  @Test("concurrent calls, with any clock, over at once", .timeLimit(.minutes(10)), arguments: over)
  func concurrentCallsOver(timeout: Duration) async {
    await isOverAtOnce(timeout, ContinuousClock())
    await isOverAtOnce(timeout, SuspendingClock())
    await isOverAtOnce(timeout, ManualClock())
    await isOverAtOnce(timeout, NarrowClock())
  }

  private func isOverAtOnce(_ timeout: Duration, _ clock: some Clock<Duration>) async {
    let hub = AwaitingHub(serialized: true)
    #expect(await hub.allSatisfy(timeout: timeout, clock: clock) { _ in false })
    let delegates = (0..<3).map { AwaitedObserver($0) }
    for delegate in delegates { hub.add(delegate) }
    let results = await hub.invokeConcurrently(timeout: timeout, clock: clock) {
      await $0.receive(1)
    }
    #expect(results.count == 3)
    for result in results {
      let error = #expect(throws: DeliveryTimeoutError.self) { try result.get() }
      #expect(error == DeliveryTimeoutError(timeout: timeout))
      #expect(error?.description.isEmpty == false)
    }
    #expect(await hub.firstResult(timeout: timeout, clock: clock) { $0.id } == nil)
    #expect(await hub.lastResult(timeout: timeout, clock: clock) { $0.id } == nil)
    #expect(await hub.allSatisfy(timeout: timeout, clock: clock) { _ in true } == false)
    #expect(await hub.contains(timeout: timeout, clock: clock) { _ in true } == false)
    #expect(delegates.allSatisfy { $0.calls == 0 })
  }

  @Test("cancelAndWait of a registration and of a subscription")
  func cancelAndWait() {
    for isTooLong in [true, false] {
      for timeout in isTooLong ? tooLong : over {
        let inside = Gate("inside")
        let leave = Gate("leave")
        let hub = MulticastDelegate<any Observing>()
        let delegate = RecordingObserver()
        let registration = hub.add(delegate)
        let events = EventHub<Int>()
        let subscription = events.subscribe { _ in
          inside.open()
          leave.wait()
        }
        let thread = RunningThread {
          hub.forEach { _ in events.send(1) }
        }
        inside.wait()
        if isTooLong {
          let waiting = RunningThread {
            #expect(registration.cancelAndWait(timeout: timeout))
            #expect(subscription.cancelAndWait(timeout: timeout))
          }
          yield { !registration.isActive }
          leave.open()
          waiting.join()
        } else {
          #expect(!registration.cancelAndWait(timeout: timeout))
          #expect(!subscription.cancelAndWait(timeout: timeout))
          leave.open()
        }
        thread.join()
        #expect(registration.cancelAndWait(timeout: timeout))
        #expect(subscription.cancelAndWait(timeout: timeout))
      }
    }
  }

  @Test("flush")
  func flush() {
    for isTooLong in [true, false] {
      for timeout in isTooLong ? tooLong : over {
        let queue = DispatchQueue(label: "suspended")
        let hub = MulticastDelegate<any Observing>()
        let delegate = RecordingObserver()
        hub.add(delegate, on: queue)
        #expect(hub.flush(timeout: timeout))
        queue.suspend()
        hub.invoke { $0.receive(1) }
        if isTooLong {
          let begins = Gate("begins")
          let waiting = RunningThread {
            begins.open()
            #expect(hub.flush(timeout: timeout))
          }
          begins.wait()
          queue.resume()
          waiting.join()
        } else {
          #expect(!hub.flush(timeout: timeout))
          queue.resume()
        }
        #expect(hub.flush(timeout: .seconds(60)))
        #expect(delegate.calls == 1)
      }
    }
  }

  @Test("flush of a hub of topics, which waits several times", arguments: tooLong + over)
  func flushOfTopics(timeout: Duration) {
    #expect(TopicHub<String, Int>().flush(timeout: timeout))
  }
}
