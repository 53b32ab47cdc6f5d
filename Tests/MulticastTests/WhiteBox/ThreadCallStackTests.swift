// `forEach` of a hub is under test here, not that of `Sequence`.

import MulticastTestSupport
import Testing

@testable import Multicast

@Suite("ThreadCallStack")
struct ThreadCallStackTests {
  /// Invokes `hub` inside itself, `depth` deep, and runs `body` in there.
  private func nest(
    _ hub: MulticastDelegate<any Observing>, _ depth: Int, _ body: () -> Void
  ) {
    guard depth > 0 else { return body() }
    hub.forEach { _ in nest(hub, depth - 1, body) }
  }

  @Test(
    "nesting deeper than one record holds", arguments: [1, 15, 16, 17, 32, 33, 100])
  func nestingDeeply(depth: Int) {
    runThreads(1) { _ in
      let outer = MulticastDelegate<any Observing>()
      let inner = MulticastDelegate<any Observing>()
      let (delegate, other) = (RecordingObserver(1), RecordingObserver(2))
      let registration = outer.add(delegate)
      inner += other
      outer.forEach { _ in
        nest(inner, depth) {
          #expect(registration.cancelAndWait(timeout: .seconds(60)))
          delegate.receive(1)
        }
      }
      #expect(delegate.calls == 1)
      // Everything was given back: the thread is inside nothing.
      #expect(ThreadCallStack.current.pointee.depth == 0)
      let again = outer.add(delegate)
      #expect(again.cancelAndWait(timeout: .zero))
      // And it can go down again from there.
      nest(inner, depth) { other.receive(1) }
      #expect(other.calls == 1)
    }
  }

  @Test("another thread sees the outermost call of a deep nesting")
  func anotherThreadSeesTheOutermostCall() {
    let outer = MulticastDelegate<any Observing>()
    let inner = MulticastDelegate<any Observing>()
    let (delegate, other) = (RecordingObserver(1), RecordingObserver(2))
    let registration = outer.add(delegate)
    let innermost = inner.add(other)
    let inside = Gate("inside")
    let checked = Gate("checked")
    runConcurrently {
      outer.forEach { _ in
        nest(inner, 40) {
          inside.open()
          checked.wait()
        }
      }
    } and: {
      inside.wait()
      #expect(!registration.cancelAndWait(timeout: .zero))
      #expect(!innermost.cancelAndWait(timeout: .zero))
      checked.open()
      #expect(registration.cancelAndWait(timeout: .seconds(60)))
      #expect(innermost.cancelAndWait(timeout: .seconds(60)))
    }
  }

  @Test("the records of threads that have ended are used again")
  func recordsAreUsedAgain() {
    let hub = MulticastDelegate<any Observing>()
    let delegate = RecordingObserver()
    hub += delegate
    let journal = Journal()
    for _ in 0..<300 {
      runThreads(1) { _ in
        nest(hub, 20) { delegate.receive(1) }
        journal.record(Int(bitPattern: ThreadCallStack.current))
      }
    }
    #expect(delegate.calls == 300)
    #expect(Set(journal.entries).count < 100, "other tests take some in the meantime")
  }

  @Test("a record that is used again does not claim its former thread's calls")
  func aUsedRecordIsClean() {
    let hub = MulticastDelegate<any Observing>()
    let delegates = (0..<20).map { RecordingObserver($0) }
    for delegate in delegates {
      let registration = hub.add(delegate)
      runThreads(1) { _ in hub.forEach { $0.receive(1) } }
      runThreads(1) { _ in
        #expect(registration.cancelAndWait(timeout: .zero))
        #expect(ThreadCallStack.current.pointee.depth == 0)
      }
      #expect(delegate.calls == 1)
    }
  }
}
