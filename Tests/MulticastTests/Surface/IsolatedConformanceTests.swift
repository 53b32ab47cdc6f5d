import Dispatch
import Multicast
import MulticastTestSupport
import Testing

/// Belongs to no actor.
private protocol Showing: AnyObject {
  func show()
}

// Sendable: it has no state, and that of its only subclass belongs to the main actor. Unchecked,
// because the compiler refuses that of a class with subclasses.
private class Element: @unchecked Sendable {}

@MainActor private final class View: Element, @MainActor Showing, @unchecked Sendable {
  private(set) var shown = 0
  func show() { shown += 1 }
}

// The compiler finds what it wrongly may call only with optimisation: `swift test -c release`.
@Suite("A conformance that belongs to an actor is found on that actor only")
struct IsolatedConformanceTests {
  private typealias Hub = MulticastDelegate<any AnyObject & Sendable>

  @Test("by forEach(as:) and invoke(as:)") @MainActor
  func casts() async {
    let view = View()
    let hub = Hub()
    hub.add(view)
    let called = await onOwnThread {
      hub.forEach(as: (any Showing).self) { $0.show() }
      return hub.invoke(as: (any Showing).self) { $0.show() }
    }
    #expect(called == 0 && view.shown == 0)
    hub.forEach(as: (any Showing).self) { $0.show() }
    #expect(hub.invoke(as: (any Showing).self) { $0.show() } == 1)
    #expect(view.shown == 2)
  }

  @Test("beside a class, which is found everywhere") @MainActor
  func classes() async {
    let view = View()
    let hub = Hub()
    hub.add(view)
    let ask: @Sendable () -> [Int] = {
      [
        hub.invoke(as: Element.self) { _ in },
        hub.invoke(as: (any Element & Showing).self) { $0.show() },
      ]
    }
    #expect(await onOwnThread(ask) == [1, 0])
    #expect(ask() == [1, 1])
    #expect(view.shown == 1)
  }

  @Test("by invoke(as:) of a delegate with a place") @MainActor
  func places() async {
    let (onMain, onQueue) = (View(), View())
    let hub = Hub()
    hub.add(onMain, on: .main)
    hub.add(onQueue, on: .global())
    let called = await onOwnThread { hub.invoke(as: (any Showing).self) { $0.show() } }
    await hub.flush()
    #expect(called == 2)
    #expect(onMain.shown == 1 && onQueue.shown == 0)
  }
}
