import Multicast
import MulticastTestSupport
import Testing

private struct Failure: Error {}

/// As ``OverloadTests``, for handlers that receive positions, and for those of a state.
@Suite("Every overload of `subscribe` that follows does the same", .timeLimit(.minutes(10)))
struct FollowingOverloadTests {
  @Test(
    "from the beginning to the end of the hub", arguments: FollowingFamily.allCases,
    FollowingForm.allCases)
  func end(family: FollowingFamily, form: FollowingForm) async throws {
    try await checkEnd(family.type, form)
  }

  private func checkEnd<Hub: FollowingHub>(_: Hub.Type, _ form: FollowingForm) async throws {
    let probe = FollowingProbe<Hub>(form)
    probe.hub.measureHandlers()
    probe.send(1, 2, 3)
    await probe.subscribe()
    await probe.hub.flush()
    #expect(probe.journal.entries == [3])
    probe.send(4)
    await probe.hub.flush()
    #expect(probe.journal.entries == [3, 4])
    let receiver = try #require(probe.hub.snapshot.receivers.first)
    #expect(receiver.label == "form")
    #expect(receiver.site?.fileID.hasSuffix("FollowingForms.swift") == true)
    #expect(receiver.kind == "handler")
    #expect(receiver.place == form.place("\(HandlerHome<Hub.Element>.self)"))
    #expect(receiver.isKept == !form.hasOwner)
    #expect(receiver.timing?.calls == 2)
    probe.hub.finish(throwing: Failure())
    await yieldTask { probe.subscription?.isActive == false }
    #expect(probe.journal.entries == [3, 4])
    #expect(probe.subscription?.end == .finished)
    #expect(probe.subscription?.failure is Failure)
    let late = FollowingProbe<Hub>(form)
    late.send(1, 2, 3)
    late.hub.finish(throwing: Failure())
    await late.subscribe()
    await yieldTask { late.subscription?.isActive == false }
    #expect(late.journal.entries == [3])
    #expect(late.subscription?.end == .finished)
    #expect(late.subscription?.failure is Failure)
  }

  @Test(
    "while it is blocked, and if the handler cancels it", arguments: FollowingFamily.allCases,
    FollowingForm.allCases)
  func blocked(family: FollowingFamily, form: FollowingForm) async {
    await checkBlocked(family.type, form)
  }

  private func checkBlocked<Hub: FollowingHub>(_: Hub.Type, _ form: FollowingForm) async {
    let probe = FollowingProbe<Hub>(form)
    probe.send(1)
    await probe.subscribe { subscription, number in
      if number == 8 { subscription?.cancel() }
    }
    await probe.hub.flush()
    #expect(probe.journal.take() == [1])
    probe.subscription?.block()
    probe.send(5, 6)
    await probe.hub.flush()
    #expect(probe.journal.entries == [])
    probe.subscription?.unblock()
    await probe.hub.flush()
    probe.send(7)
    await probe.hub.flush()
    #expect(probe.journal.take() == [6, 7])
    probe.send(8)
    await yieldTask { probe.subscription?.isActive == false }
    probe.send(9)
    await probe.hub.flush()
    #expect(probe.journal.entries == [8])
    #expect(probe.subscription?.end == .cancelled)
  }

  @Test(
    "with its handle or its owner", arguments: FollowingFamily.allCases, FollowingForm.allCases)
  func lifetime(family: FollowingFamily, form: FollowingForm) async {
    await checkLifetime(family.type, form)
  }

  private func checkLifetime<Hub: FollowingHub>(_: Hub.Type, _ form: FollowingForm) async {
    let probe = FollowingProbe<Hub>(form)
    probe.send(1)
    await probe.subscribe()
    await probe.hub.flush()
    probe.releaseHandle()
    probe.send(2)
    await probe.hub.flush()
    #expect(probe.journal.entries == (form.hasOwner ? [1, 2] : [1]))
    await probe.releaseOwner()
    await yieldTask {
      probe.hub.send(3)
      return probe.hub.snapshot.receivers.isEmpty
    }
    #expect(probe.journal.entries == (form.hasOwner ? [1, 2] : [1]))
  }
}

/// A subscription that one overload has made, and what its handler has received.
private final class FollowingProbe<Hub: FollowingHub> {
  let hub = Hub()
  let form: FollowingForm
  let journal = Journal()
  private let held = Holder<EventSubscription>(nil)
  private var owner: HandlerOwner? = HandlerOwner()
  private var home: HandlerHome<Hub.Element>?

  init(_ form: FollowingForm) {
    self.form = form
  }

  var subscription: EventSubscription? { held.value }

  /// Subscribes.
  ///
  /// - Parameter handler: called with each number, and the handle if there is one yet.
  func subscribe(
    _ handler: @escaping @Sendable (EventSubscription?, Int) -> Void = { _, _ in }
  ) async {
    let terms = HandlerTerms<Hub.Element> { [journal, weak held] _, element in
      guard let number = Hub.number(element) else { return }
      journal.record(number)
      handler(held?.value, number)
    }
    let home = HandlerHome(terms)
    self.home = home
    held.value = await form.subscribe(to: hub, terms, owner!, home)
  }

  func send(_ numbers: Int...) {
    for number in numbers { hub.send(number) }
  }

  /// Releases the handle.
  func releaseHandle() { held.value = nil }

  /// Releases the object with which the subscription ends, if there is one, and waits until it is
  /// gone.
  func releaseOwner() async {
    weak let released: AnyObject? = form == .actorOwner ? home : owner
    owner = nil
    home = nil
    await yieldTask { released == nil }
  }
}
