import Multicast
import MulticastTestSupport
import Testing

private enum Trace {
  @TaskLocal static var id = -1
}

private struct Failure: Error {}

/// The same script, for every overload: what differs is where the handler is called, and nothing
/// else.
@Suite("Every overload of `subscribe` does the same", .timeLimit(.minutes(10)))
struct OverloadTests {
  @Test(
    "with a filter and options", arguments: HandlerFamily.allCases, HandlerForm.allCases)
  func options(family: HandlerFamily, form: HandlerForm) async {
    await checkOptions(family.type, form)
  }

  private func checkOptions<Hub: HandlerHub>(_: Hub.Type, _ form: HandlerForm) async {
    let probe = HandlerProbe<Hub>(form)
    let calls = Counter()
    await probe.subscribe { terms in
      terms.filter = { Hub.number($0).isMultiple(of: 2) }
      terms.options += [
        .intercepting { call in
          calls.add()
          call()
        } async: { call in
          calls.add()
          await call()
        },
        .first(2), .removingDuplicates,
      ]
    }
    probe.send(1, 2, 2, 3, 4, 4, 6)
    // A flush does not wait for the last call, with which the subscription has ended.
    await yieldTask { probe.journal.entries.count == 2 }
    await probe.hub.flush()
    #expect(probe.journal.entries == [2, 4])
    #expect(calls.value == 2)
    #expect(probe.subscription?.end == .cancelled)
    #expect(probe.hub.snapshot.receivers.isEmpty)
    probe.hub.finish(throwing: Failure())
    #expect(probe.ends.isEmpty)
  }

  @Test(
    "with the task-local values of the sender", arguments: HandlerFamily.allCases,
    HandlerForm.allCases)
  func carrying(family: HandlerFamily, form: HandlerForm) async {
    await checkCarrying(family.type, form)
  }

  private func checkCarrying<Hub: HandlerHub>(_: Hub.Type, _ form: HandlerForm) async {
    let probe = HandlerProbe<Hub>(form)
    let traces = Journal()
    await probe.subscribe {
      $0.options.append(.carrying(Trace.$id))
    } _: { _, _ in
      traces.record(Trace.id)
    }
    Trace.$id.withValue(7) { probe.send(1) }
    probe.send(2)
    await probe.hub.flush()
    #expect(probe.journal.entries == [1, 2])
    #expect(traces.entries == [7, -1])
  }

  @Test(
    "at the end of the hub", arguments: HandlerFamily.allCases, HandlerForm.allCases)
  func end(family: HandlerFamily, form: HandlerForm) async {
    await checkEnd(family.type, form)
  }

  private func checkEnd<Hub: HandlerHub>(_: Hub.Type, _ form: HandlerForm) async {
    let probe = HandlerProbe<Hub>(form)
    await probe.subscribe()
    probe.send(1, 2)
    probe.hub.finish(throwing: Failure())
    probe.send(3)
    await yieldTask { !probe.ends.isEmpty }
    #expect(probe.journal.entries == [1, 2])
    #expect(probe.ends.map(\.reason) == [.finished])
    #expect(probe.ends.first?.failure is Failure)
    #expect(probe.subscription?.end == .finished)
    #expect(probe.subscription?.failure is Failure)
    let late = HandlerProbe<Hub>(form)
    late.hub.finish(throwing: Failure())
    await late.subscribe()
    await yieldTask { !late.ends.isEmpty }
    #expect(late.journal.entries == [])
    #expect(late.ends.map(\.reason) == [.finished])
    #expect(late.ends.first?.failure is Failure)
    #expect(late.subscription?.end == .finished)
    #expect(late.subscription?.failure is Failure)
  }

  @Test(
    "while it is blocked", arguments: HandlerFamily.allCases, HandlerForm.allCases)
  func blocked(family: HandlerFamily, form: HandlerForm) async {
    await checkBlocked(family.type, form)
  }

  private func checkBlocked<Hub: HandlerHub>(_: Hub.Type, _ form: HandlerForm) async {
    let probe = HandlerProbe<Hub>(form)
    await probe.subscribe()
    probe.subscription?.block()
    probe.send(1)
    #expect(probe.hub.snapshot.receivers.map(\.isBlocked) == [true])
    probe.subscription?.unblock()
    probe.send(2)
    await probe.hub.flush()
    #expect(probe.journal.entries == [2])
    probe.subscription?.block()
    probe.hub.finish(throwing: Failure())
    await probe.hub.flush()
    // Nothing waits for a handler that senders call.
    #expect(probe.ends.isEmpty != form.isInline)
    probe.subscription?.unblock()
    await yieldTask { !probe.ends.isEmpty }
    #expect(probe.ends.map(\.reason) == [.finished])
  }

  @Test(
    "if the handler cancels it", arguments: HandlerFamily.allCases, HandlerForm.allCases)
  func cancelled(family: HandlerFamily, form: HandlerForm) async {
    await checkCancelled(family.type, form)
  }

  private func checkCancelled<Hub: HandlerHub>(_: Hub.Type, _ form: HandlerForm) async {
    let probe = HandlerProbe<Hub>(form)
    await probe.subscribe { _ in
    } _: { subscription, number in
      if number == 2 { subscription?.cancel() }
    }
    probe.send(1, 2, 3, 4)
    await yieldTask { probe.subscription?.isActive == false }
    await probe.hub.flush()
    #expect(probe.journal.entries == [1, 2])
    #expect(probe.subscription?.end == .cancelled)
    probe.hub.finish(throwing: Failure())
    #expect(probe.ends.isEmpty)
    #expect(probe.subscription?.failure == nil)
  }

  @Test(
    "with its handle or its owner", arguments: HandlerFamily.allCases, HandlerForm.allCases)
  func lifetime(family: HandlerFamily, form: HandlerForm) async {
    await checkLifetime(family.type, form)
  }

  private func checkLifetime<Hub: HandlerHub>(_: Hub.Type, _ form: HandlerForm) async {
    let probe = HandlerProbe<Hub>(form)
    await probe.subscribe()
    probe.releaseHandle()
    probe.send(1)
    await probe.hub.flush()
    #expect(probe.journal.entries == (form.hasOwner ? [1] : []))
    probe.releaseOwner()
    await yieldTask { [hub = probe.hub] in hub.snapshot.receivers.isEmpty }
    probe.send(2)
    await probe.hub.flush()
    #expect(probe.journal.entries == (form.hasOwner ? [1] : []))
    probe.hub.finish(throwing: Failure())
    #expect(probe.ends.isEmpty)
  }
}
