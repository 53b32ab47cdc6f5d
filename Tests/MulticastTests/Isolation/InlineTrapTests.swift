import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@Suite("Inline calls end the process at a delegate that was added elsewhere")
struct InlineTrapTests {
  @Test("forEach, on a queue")
  func forEachOnQueue() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      hubOnQueue().forEach { $0.receive(1) }
    }
    expectMessage(result, "is called directly. Use invoke")
  }

  @Test("results, on a queue")
  func results() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = hubOnQueue().results { $0.id }
    }
    expectMessage(result, "added on the queue \"home\"")
  }

  @Test("firstResult, on a queue")
  func firstResult() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = hubOnQueue().firstResult { $0.id }
    }
    expectMessage(result, "added on the queue")
  }

  @Test("lastResult, on a queue")
  func lastResult() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = hubOnQueue().lastResult { $0.id }
    }
    expectMessage(result, "added on the queue")
  }

  @Test("for in, on a queue")
  func forIn() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      for delegate in hubOnQueue() { delegate.receive(1) }
    }
    expectMessage(result, "added on the queue")
  }

  @Test("of a value type too, with a message that names the delegate")
  func value() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let hub = MulticastDelegate<any Listening>()
      hub.add(RecordingValue(1, journal: Journal()), ownership: .strong, on: .global())
      hub.forEach { $0.receive(1) }
    }
    expectMessage(result, "RecordingValue was added on the queue")
  }

  @Test("for in, of a value type on the main actor")
  func valueOnMain() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let hub = MulticastDelegate<any Listening>()
      hub.add(RecordingValue(1, journal: Journal()), ownership: .strong, on: .main)
      runThreads(1) { _ in
        for delegate in hub { delegate.receive(1) }
      }
    }
    expectMessage(result, "RecordingValue was added on MainActor")
  }

  @Test("forEach on another thread, on the main actor")
  func onMain() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let hub = MulticastDelegate<any Observing>()
      hub.add(RecordingObserver(), ownership: .strong, on: .main)
      runThreads(1) { _ in hub.forEach { $0.receive(1) } }
    }
    expectMessage(result, "RecordingObserver was added on MainActor")
  }

  @Test("on the main actor, inline calls of its delegates are allowed")
  @MainActor func allowed() {
    let hub = MulticastDelegate<any Observing>()
    let delegate = RecordingObserver()
    hub.add(delegate, on: .main)
    hub.forEach { $0.receive(1) }
    for delegate in hub { delegate.receive(2) }
    #expect(delegate.calls == 2)
  }

  @Test("reading the list is allowed")
  func reading() {
    let hub = hubOnQueue()
    #expect(hub.count == 1)
    #expect(!hub.isEmpty)
    #expect(hub.delegates.count == 1)
    #expect(hub[0] != nil)
    #expect(hub.firstIndex(of: hub[0]!) == 0)
    #expect("\(hub)".contains("count: 1"))
  }

  private func expectMessage(_ result: ExitTest.Result?, _ text: String) {
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains(text), "\(message)")
  }
}

private func hubOnQueue() -> MulticastDelegate<any Observing> {
  let hub = MulticastDelegate<any Observing>()
  hub.add(RecordingObserver(), ownership: .strong, on: DispatchQueue(label: "home"))
  return hub
}
