import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@Suite("A subscriber that asks for positions has neither a gap nor a duplicate")
struct FollowingHandlerTests {
  @Test("between what is retained and what is new", arguments: FollowerKind.allCases)
  func retainedAndNew(_ kind: FollowerKind) async {
    for start in [SubscriptionStart.retained, .last(150), .live] {
      let hub = EventHub<Int>(retention: .last(400))
      for event in 1...300 { hub.send(event) }
      let follower = Follower<Int>()
      let following = await hub.follow(kind, from: start) { follower.receive($0) }
      for event in 301...400 {
        hub.send(event)
        // Some come while the subscriber still reads.
        if event % 20 == 0 { await eventually { follower.events.last == event } }
      }
      let first = start == .live ? 301 : start == .retained ? 1 : 151
      #expect(follower.events == Array(first...400))
      #expect(follower.missed.isEmpty)
      #expect(follower.elements.map(\.position.number) == (first...400).map { UInt64($0) })
      withExtendedLifetime(following) {}
      following.cancel()
    }
  }

  @Test(
    "a subscriber that comes while the hub finishes receives what is retained",
    arguments: [FollowerKind.sender, .concurrentQueue])
  func whileFinishing(_ kind: FollowerKind) {
    struct State: Sendable {
      let hub = EventHub<Int>(retention: .last(9))
      let follower = Follower<Int>()
      let subscription = Guarded<EventSubscription?>(nil)
      init() { for event in 1...3 { hub.send(event) } }
    }
    let outcomes: [[Int]: Int] = race(
      rounds: 5_000,
      setUp: { State() },
      actors: [
        { state in
          let subscription =
            kind == .sender
            ? state.hub.subscribe(from: .retained, on: .sender) { state.follower.receive($0) }
            : state.hub.subscribe(from: .retained, on: .global()) { state.follower.receive($0) }
          state.subscription.withLock { $0 = subscription }
        }, { $0.hub.finish() },
      ],
      outcome: { state in
        if let subscription = state.subscription.withLock({ $0 }) {
          yield { !subscription.isActive }
        }
        return state.follower.events
      })
    #expect(Set(outcomes.keys) == [[1, 2, 3]])
  }

  @Test(
    "also if the hub finishes between its registration and its start",
    arguments: FollowerKind.allCases)
  func finishAfterRegistration(_ kind: FollowerKind) async {
    let registered = Guarded<EventHub<Int>?>(nil)
    // Runs when the subscriber is registered, before it begins to read.
    let hub = EventHub<Int>(
      retention: .last(9),
      onFirstSubscriber: {
        let hub = registered.withLock { $0.take() }
        let other = RunningThread { hub?.finish() }
        other.join()
      })
    registered.withLock { $0 = hub }
    for event in 1...3 { hub.send(event) }
    let follower = Follower<Int>()
    let following = await hub.follow(kind, from: .retained) { follower.receive($0) }
    await following.task?.value
    await eventually { following.subscription?.isActive != true }
    #expect(follower.events == [1, 2, 3])
    #expect(hub.subscriberCount == 0)
  }

  @Test(
    "what a handler captures is released when the subscription has ended, though its handle lives",
    arguments: [false, true])
  func releasesTheHandler(isCancelled: Bool) async {
    let tracker = LifetimeTracker()
    let hub = EventHub<Int>(retention: .last(9))
    hub.send(1)
    var handles: [EventSubscription] = []
    do {
      let observer = RecordingObserver(0, tracker: tracker)
      handles.append(hub.subscribe(from: .retained, on: .sender) { _ in _ = observer })
      handles.append(hub.subscribe(from: .retained, on: .global()) { _ in _ = observer })
    }
    #expect(tracker.live == 1)
    if isCancelled { for handle in handles { handle.cancel() } } else { hub.finish() }
    await eventually { tracker.live == 0 }
    withExtendedLifetime(handles) {}
  }

  @Test("after finish: it receives what is retained, and ends", arguments: FollowerKind.allCases)
  func afterFinish(_ kind: FollowerKind) async {
    let hub = EventHub<Int>(retention: .last(200))
    for event in 1...300 { hub.send(event) }
    hub.finish()
    let follower = Follower<Int>()
    let following = await hub.follow(kind, from: .retained) { follower.receive($0) }
    await following.task?.value
    await eventually { following.subscription?.isActive != true }
    #expect(follower.events == Array(101...300))
    if let subscription = following.subscription { #expect(subscription.end == .finished) }
    #expect(hub.subscriberCount == 0)
  }

  @Test("finish with a backlog: all of it is received first", arguments: FollowerKind.allCases)
  func finishWithBacklog(_ kind: FollowerKind) async {
    let hub = EventHub<Int>(retention: .last(1_000))
    let mayContinue = Gate("the handler may continue")
    let follower = Follower<Int>()
    // The first element holds the handler up; on the thread that sends it cannot.
    if kind == .sender || kind == .owner { mayContinue.open() }
    let following = await hub.follow(kind, from: .live) { element in
      if element.event == 1 { mayContinue.wait() }
      follower.receive(element)
    }
    for event in 1...700 { hub.send(event) }
    hub.finish()
    mayContinue.open()
    await following.task?.value
    await eventually { following.subscription?.isActive != true }
    #expect(follower.events == Array(1...700))
    withExtendedLifetime(following) {}
  }

  @Test("filters are for events, and missing ranges stay exact", arguments: FollowerKind.allCases)
  func filters(_ kind: FollowerKind) async {
    let hub = EventHub<Int>(retention: .last(100))
    let first = hub.publish(1)!
    for event in 2...201 { hub.send(event) }
    let follower = Follower<Int>()
    let following = await hub.follow(kind, from: .after(first), where: { $0 % 2 == 0 }) {
      follower.receive($0)
    }
    hub.finish()
    await following.task?.value
    await eventually { following.subscription?.isActive != true }
    #expect(follower.events == (102...201).filter { $0 % 2 == 0 })
    #expect(follower.missed.map(\.count) == [100])
    guard case .missed(let range)? = follower.elements.first else {
      Issue.record("the missing range is not the first element")
      return
    }
    #expect(range.after == first && range.through.number == 101)
  }

  @Test(
    "a block pauses it, and it goes on where it was",
    arguments: FollowerKind.handlers)
  func blocks(_ kind: FollowerKind) async throws {
    let hub = EventHub<Int>(retention: .last(1_000))
    let follower = Follower<Int>()
    let following = await hub.follow(kind, from: .live) { follower.receive($0) }
    let subscription = try #require(following.subscription)
    hub.send(1)
    await eventually { follower.events == [1] }
    subscription.block()
    for event in 2...300 { hub.send(event) }
    await hub.flush()
    #expect(follower.events == [1])
    subscription.unblock()
    await eventually { follower.events.count == 300 }
    hub.send(301)
    await eventually { follower.events.count == 301 }
    #expect(follower.events == Array(1...301))
    withExtendedLifetime(following) {}
  }

  @Test(
    "finish during a block: it ends after the last unblock, with everything",
    arguments: FollowerKind.handlers)
  func finishDuringABlock(_ kind: FollowerKind) async throws {
    let hub = EventHub<Int>(retention: .last(1_000))
    let follower = Follower<Int>()
    let following = await hub.follow(kind, from: .live) { follower.receive($0) }
    let subscription = try #require(following.subscription)
    subscription.block()
    for event in 1...300 { hub.send(event) }
    hub.finish()
    #expect(follower.events.isEmpty && subscription.isActive)
    subscription.unblock()
    await eventually { !subscription.isActive }
    #expect(follower.events == Array(1...300))
    withExtendedLifetime(following) {}
  }

  @Test(
    "blocks inside the handler, and by others: one call at a time, and each event once",
    arguments: [FollowerKind.concurrentQueue, .actor, .sender, .main])
  func blocksInTheHandler(_ kind: FollowerKind) async throws {
    let hub = EventHub<Int>(retention: .last(100_000))
    let follower = Follower<Int>()
    let (calls, overlaps) = (Guarded(0), Counter())
    let holder = Guarded<EventSubscription?>(nil)
    let following = await hub.follow(kind, from: .live) { element in
      let running = calls.withLock { calls in
        calls += 1
        return calls
      }
      if running > 1 { overlaps.add() }
      if let subscription = holder.withLock({ $0 }) {
        subscription.block()
        subscription.unblock()
      }
      follower.receive(element)
      calls.withLock { $0 -= 1 }
    }
    let subscription = try #require(following.subscription)
    holder.withLock { $0 = subscription }
    runThreads(3) { thread in
      for event in 1...2_000 {
        if thread == 2 {
          subscription.block()
          subscription.unblock()
        } else {
          hub.send(event)
        }
      }
    }
    await eventually { follower.elements.count >= 4_000 }
    #expect(overlaps.value == 0)
    #expect(follower.covers(after: 0, through: 4_000))
    holder.withLock { $0 = nil }
    withExtendedLifetime(following) {}
  }

  @Test("cancel in the handler: it is not called again", arguments: FollowerKind.allCases)
  func cancelInTheHandler(_ kind: FollowerKind) async {
    let hub = EventHub<Int>(retention: .last(200))
    for event in 1...100 { hub.send(event) }
    let follower = Follower<Int>()
    let (holder, mayBegin) = (Guarded<Following?>(nil), Gate("it may begin"))
    let isAtOnce = kind == .sender || kind == .owner
    let following = await hub.follow(kind, from: isAtOnce ? .live : .retained) { element in
      if !isAtOnce { mayBegin.wait() }
      follower.receive(element)
      if follower.elements.count == 3 { holder.withLock { $0 }?.cancel() }
    }
    holder.withLock { $0 = following }
    mayBegin.open()
    for event in 101...110 { hub.send(event) }
    await hub.flush()
    await following.task?.value
    await following.subscription?.cancelAndWait()
    #expect(follower.events.count == 3)
    #expect(hub.subscriberCount == 0)
    holder.withLock { $0 = nil }
  }

  @Test(
    "cancelAndWait returns when the handler is not running and will not run again",
    arguments: FollowerKind.handlers)
  func cancelAndWait(_ kind: FollowerKind) async {
    for _ in 0..<50 {
      let hub = EventHub<Int>(retention: .last(1_000))
      let (over, late) = (Counter(), Counter())
      let following = await hub.follow(kind, from: .live) { _ in
        if over.value > 0 { late.add() }
      }
      let sender = RunningThread { for event in 1...200 { hub.send(event) } }
      await following.subscription?.cancelAndWait()
      over.add()
      sender.join()
      hub.send(0)
      await hub.flush()
      #expect(late.value == 0)
    }
  }
}
