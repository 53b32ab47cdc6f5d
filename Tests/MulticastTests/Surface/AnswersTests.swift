// `forEach` of a hub is under test here, not that of `Sequence`.

import Multicast
import MulticastTestSupport
import Testing

private enum Veto: Error, Equatable {
  case by(Int)
}

@Suite("Answers: forEach, results, firstResult, lastResult")
struct AnswersTests {
  /// A hub of the delegates 0, 1, 2, 3 and what keeps them alive.
  private func makeHub(
    _ storage: StorageStrategy
  ) -> (hub: MulticastDelegate<any Observing>, delegates: [RecordingObserver]) {
    let delegates = (0..<4).map { RecordingObserver($0) }
    let hub = MulticastDelegate<any Observing>(storage: storage)
    for delegate in delegates { hub += delegate }
    return (hub, delegates)
  }

  @Test("forEach stops at the delegate that throws", arguments: StorageStrategy.allCases)
  func forEachStopsAtAnError(storage: StorageStrategy) {
    let (hub, delegates) = makeHub(storage)
    #expect(throws: Veto.by(2)) {
      try hub.forEach { delegate in
        delegate.receive(1)
        if delegate.id == 2 { throw Veto.by(2) }
      }
    }
    #expect(delegates.map(\.calls) == [1, 1, 1, 0])
    // Whatever the invocation had taken was given back.
    #expect(hub.count == 4)
    #expect(hub.remove(delegates[0]))
  }

  @Test("forEach with a typed error throws that type", arguments: StorageStrategy.allCases)
  func forEachWithATypedError(storage: StorageStrategy) {
    let (hub, delegates) = makeHub(storage)
    do {
      try hub.forEach(throwing: Veto.self) { delegate throws(Veto) in
        delegate.receive(1)
        if delegate.id == 1 { throw .by(1) }
      }
      Issue.record("nothing was thrown")
    } catch {
      let veto: Veto = error  // It compiles only if the type is known.
      #expect(veto == .by(1))
    }
    #expect(delegates.map(\.calls) == [1, 1, 0, 0])
  }

  @Test("forEach(as:) reaches those that conform", arguments: StorageStrategy.allCases)
  func forEachAs(storage: StorageStrategy) {
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let (plain, reporting) = (RecordingObserver(1), ReportingObserver(2))
    hub += plain
    hub += reporting
    hub.forEach(as: (any Reporting).self) { $0.report(1) }
    #expect(reporting.reports == 1)
    let called = hub.invoke(as: (any Reporting).self) { $0.report(1) }
    #expect(called == 1)
    #expect(reporting.reports == 2)
    let concrete = hub.invoke(as: ReportingObserver.self) { $0.report(1) }
    #expect(concrete == 1)
    #expect(throws: Veto.by(2)) {
      try hub.forEach(as: (any Reporting).self) { (_: any Reporting) throws in throw Veto.by(2) }
    }
    #expect(plain.calls == 0)
  }

  @Test("one failure does not stop the rest", arguments: StorageStrategy.allCases)
  func resultsOfAll(storage: StorageStrategy) {
    let (hub, delegates) = makeHub(storage)
    let results = hub.results { delegate throws(Veto) -> Int in
      delegate.receive(1)
      guard delegate.id.isMultiple(of: 2) else { throw .by(delegate.id) }
      return delegate.id * 10
    }
    #expect(results == [.success(0), .failure(.by(1)), .success(20), .failure(.by(3))])
    #expect(delegates.allSatisfy { $0.calls == 1 })
    #expect(MulticastDelegate<any Observing>(storage: storage).results { $0.id }.isEmpty)
  }

  @Test("after the first answer no delegate is called", arguments: StorageStrategy.allCases)
  func firstResult(storage: StorageStrategy) {
    let (hub, delegates) = makeHub(storage)
    let answer = hub.firstResult { delegate -> Int? in
      delegate.receive(1)
      return delegate.id >= 1 ? delegate.id * 10 : nil
    }
    #expect(answer == 10)
    #expect(delegates.map(\.calls) == [1, 1, 0, 0])
    let none: Int? = hub.firstResult { _ in nil }
    #expect(none == nil)
    #expect(throws: Veto.by(0)) {
      try hub.firstResult { delegate throws -> Int? in throw Veto.by(delegate.id) }
    }
  }

  @Test("for the last answer all are called", arguments: StorageStrategy.allCases)
  func lastResult(storage: StorageStrategy) {
    let (hub, delegates) = makeHub(storage)
    let answer = hub.lastResult { delegate -> Int? in
      delegate.receive(1)
      return delegate.id <= 2 ? delegate.id * 10 : nil
    }
    #expect(answer == 20)
    #expect(delegates.map(\.calls) == [1, 1, 1, 1])
    let none: Int? = hub.lastResult { _ in nil }
    #expect(none == nil)
    #expect(throws: Veto.by(0)) {
      try hub.lastResult { delegate throws -> Int? in throw Veto.by(delegate.id) }
    }
  }

  @Test("an error from a nested invocation ends both", arguments: StorageStrategy.allCases)
  func errorThroughNestedInvocations(storage: StorageStrategy) {
    let (hub, delegates) = makeHub(storage)
    #expect(throws: Veto.by(1)) {
      try hub.forEach { outer in
        outer.receive(1)
        try hub.forEach { inner in
          if inner.id == 1 { throw Veto.by(1) }
        }
      }
    }
    #expect(delegates.map(\.calls) == [1, 0, 0, 0])
    let registration = hub.add(delegates[0])
    #expect(registration.cancelAndWait(timeout: .zero), "no frame was left behind")
  }
}
