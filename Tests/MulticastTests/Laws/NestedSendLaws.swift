import Dispatch
import Multicast
import MulticastTestSupport
import Testing

/// An object whose `deinit` runs a closure, on the thread that destroys it.
private final class Parting: Sendable {
  private let action: @Sendable () -> Void

  init(_ action: @escaping @Sendable () -> Void) { self.action = action }

  deinit { action() }
}

/// Handlers and delegates belong to it.
private actor Home {}

private final class Listener: Sendable {
  let calls = Counter()
}

@Suite("What a full buffer drops inside `send` may send through other hubs")
struct NestedSendLaws {
  @Test(
    "by EventHub.send: each handler gets the events of its hub, and all of them",
    arguments: [false, true], [1, 3, 200])
  func events(isOfAnotherActor: Bool, count: Int) async {
    let home = Home()
    let other = isOfAnotherActor ? Home() : home
    let (texts, frames) = (EventHub<String>(), EventHub<Parting>())
    let (received, handled) = (Journal(), Counter())
    let listening = texts.subscribe(with: other) { _, text in
      received.record(text == "gone" ? 1 : -1)
    }
    // Its mailbox and those before and after it have different locks.
    let early = (0..<count).map { _ in frames.subscribe(with: home) { _, _ in handled.add() } }
    let sequence = frames.events(buffering: .latest)
    let late = frames.subscribe(with: home) { _, _ in handled.add() }
    for handler in early + [late] { handler.block() }
    frames.send(Parting { texts.send("gone") })
    for handler in early + [late] { handler.unblock() }
    #expect(frames.send(Parting {}) == count + 2)  // Drops the first one.
    await eventually { handled.value == count + 1 && received.entries.count == 1 }
    #expect(received.entries == [1])
    #expect(handled.value == count + 1)
    withExtendedLifetime((listening, sequence)) {}
  }

  @Test("by MulticastDelegate.invoke: each delegate gets the calls of its hub, and all of them")
  func calls() async {
    let home = Home()
    let (texts, frames) = (EventHub<String>(), MulticastDelegate<Listener>())
    let received = Journal()
    let listening = texts.subscribe(with: home) { _, text in
      received.record(text == "gone" ? 1 : -1)
    }
    let listeners = (0..<3).map { _ in Listener() }
    let queue = DispatchQueue(label: "suspended")
    queue.suspend()
    let first = frames.add(listeners[0], on: home)
    frames.add(listeners[1], on: queue, buffering: .latest)
    let last = frames.add(listeners[2], on: home)
    first.block()
    last.block()
    Self.invoke(frames) { texts.send("gone") }
    first.unblock()
    last.unblock()
    #expect(frames.invoke { $0.calls.add() } == 3)  // Drops the first call of the queue.
    queue.resume()
    await frames.flush()
    await texts.flush()
    #expect(received.entries == [1])
    #expect(listeners.map(\.calls.value) == [1, 1, 1])
    withExtendedLifetime(listening) {}
  }

  /// Calls each listener with a closure that runs `action` when it is destroyed.
  private static func invoke(
    _ hub: MulticastDelegate<Listener>, _ action: @escaping @Sendable () -> Void
  ) {
    let parting = Parting(action)
    hub.invoke { listener in
      withExtendedLifetime(parting) { listener.calls.add() }
    }
  }
}
