import Multicast
import MulticastTestSupport
import Testing

/// As ``OverloadTests``, for what a hub reports of a subscription, its buffer and its replay.
///
/// Serialized: handlers block the threads of tasks.
@Suite(
  "Every overload of `subscribe` has the same buffer and reports", .serialized,
  .timeLimit(.minutes(10)))
struct OverloadReportTests {
  @Test("in a snapshot", arguments: HandlerFamily.allCases, HandlerForm.allCases)
  func snapshot(family: HandlerFamily, form: HandlerForm) async throws {
    try await checkSnapshot(family.type, form)
  }

  private func checkSnapshot<Hub: HandlerHub>(_: Hub.Type, _ form: HandlerForm) async throws {
    let probe = HandlerProbe<Hub>(form)
    probe.hub.measureHandlers()
    await probe.subscribe { terms in
      terms.filter = { Hub.number($0) > 0 }
      terms.options.append(.removingDuplicates)
    }
    probe.send(0, 1, 1, 2, 3)
    await probe.hub.flush()
    let receiver = try #require(probe.hub.snapshot.receivers.first)
    #expect(receiver.label == "form")
    #expect(receiver.site?.fileID.hasSuffix("Forms.swift") == true)
    #expect(receiver.kind == form.kind)
    #expect(receiver.place == form.place("\(HandlerHome<Hub.Element>.self)"))
    #expect(receiver.isKept == !form.hasOwner)
    #expect(receiver.timing?.calls == 3)
    #expect(receiver.statistics?.delivered == (form.isInline ? nil : 4))
    #expect(probe.subscription?.statistics == receiver.statistics)
    #expect(receiver.age != nil)
  }

  @Test(
    "if the buffer is full", arguments: HandlerFamily.allCases,
    HandlerForm.allCases.filter { !$0.isInline })
  func full(family: HandlerFamily, form: HandlerForm) async {
    await checkFull(family.type, form)
  }

  private func checkFull<Hub: HandlerHub>(_: Hub.Type, _ form: HandlerForm) async {
    let policies:
      [(BufferingPolicy<Hub.Element>, received: [Int], dropped: Int, end: SubscriptionEnd?)] = [
        (.unbounded, [0, 1, 2, 3, 4, 5], 0, nil),
        (.bounded(2, whenFull: .dropOldest), [0, 4, 5], 3, nil),
        (.bounded(2, whenFull: .dropNewest), [0, 1, 2], 3, nil),
        (.bounded(2, whenFull: .disconnect), [0, 1, 2], 1, .disconnected),
        (.latest, [0, 5], 4, nil),
        (.coalescing { Hub.number($0).isMultiple(of: 2) }, [0, 5, 4], 3, nil),
      ]
    for (policy, received, dropped, end) in policies {
      let probe = HandlerProbe<Hub>(form)
      let begun = Gate("begun")
      let gate = Gate("handler")
      await probe.subscribe {
        $0.buffering = policy
      } _: { _, number in
        guard number == 0 else { return }
        begun.open()
        gate.wait()
      }
      probe.send(0)
      await eventually { begun.isOpen }
      probe.send(1, 2, 3, 4, 5)
      gate.open()
      await yieldTask { probe.journal.entries.count == received.count }
      await probe.hub.flush()
      await yieldTask { probe.ends.count == (end == nil ? 0 : 1) }
      #expect(probe.journal.entries == received)
      #expect(probe.subscription?.statistics?.dropped == dropped)
      #expect(probe.subscription?.end == end)
      #expect(probe.ends.map(\.reason) == (end.map { [$0] } ?? []))
    }
  }

  @Test("with a replay, also after the end", arguments: HandlerForm.allCases)
  func replay(form: HandlerForm) async {
    let probe = HandlerProbe<EventHubForms>(form, replay: 2)
    probe.send(1, 2, 3)
    await probe.subscribe { $0.filter = { $0 != 2 } }
    probe.send(4)
    await probe.hub.flush()
    #expect(probe.journal.entries == [3, 4])
    let late = HandlerProbe<EventHubForms>(form, replay: 2)
    late.send(1, 2, 3)
    late.hub.hub.finish()
    await late.subscribe()
    await yieldTask { !late.ends.isEmpty }
    #expect(late.journal.entries == [2, 3])
    #expect(late.ends.map(\.reason) == [.finished])
    #expect(late.ends.first?.failure == nil)
  }
}
