import Foundation
import MulticastTestSupport
import Testing

@testable import Multicast

@Suite("Promise 11: adding and removing cost amortised O(1) at any size")
struct CostLaws {
  @Test("the cost of an operation does not grow with the size", arguments: StorageStrategy.allCases)
  func theCostDoesNotGrowWithTheSize(storage: StorageStrategy) {
    let delegates = (0..<10_000).map { RecordingObserver($0) }
    expectConstantCost(at: 100, 10_000) { cost(of: delegates.prefix($0), storage) }
  }

  /// Adds one by one, removes by registration and by delegate. Nanoseconds of this thread for each.
  private func cost(of delegates: ArraySlice<RecordingObserver>, _ storage: StorageStrategy) -> Int
  {
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let begin = threadTime()
    let registrations = delegates.map { hub.add($0) }
    for registration in registrations[..<(delegates.count / 2)] { registration.cancel() }
    for delegate in delegates[(delegates.count / 2)...] { hub.remove(delegate) }
    let end = threadTime()
    #expect(hub.isEmpty)
    return (end - begin) / delegates.count
  }

  private func threadTime() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }

  @Test("removing many registrations of one delegate is not quadratic")
  func manyRegistrationsOfOneDelegate() {
    expectConstantCost(at: 200, 20_000) { count in
      let hub = MulticastDelegate<any Observing>(duplicates: .allow)
      let delegate = RecordingObserver()
      let registrations = (0..<count).map { _ in hub.add(delegate) }
      let begin = threadTime()
      // The oldest first: they are at the end of their chain.
      for registration in registrations { registration.cancel() }
      let end = threadTime()
      #expect(hub.isEmpty)
      return (end - begin) / count
    }
  }

  @Test(
    "cancelling many senders that wait for space, in their order or in reverse, is not quadratic",
    arguments: [false, true])
  func manyWaitingSenders(newestFirst: Bool) {
    expectConstantCost(at: 200, 20_000) { count in
      var state = MailboxState(limit: 1, whenFull: .suspend, isIdle: true)
      _ = state.append(Envelope(event: 0))
      let senders = (0..<count).map { _ in SendWaiter() }
      for sender in senders { _ = state.append(Envelope(event: 1), sender: sender) }
      let begin = threadTime()
      for index in 0..<count { _ = state.cancel(senders[newestFirst ? count - 1 - index : index]) }
      // Again, as when a sender is cancelled after it was released.
      for sender in senders { _ = state.cancel(sender) }
      let end = threadTime()
      let (isEmpty, dropped) = (state.parked.isEmpty, state.statistics.dropped)
      #expect(isEmpty && dropped == count)
      return (end - begin) / count
    }
  }

  @Test("finishing a hub with a subscriber of very many topics is not quadratic")
  func manyTopicsOfOneSubscriber() {
    expectConstantCost(at: 80, 8_000) { count in
      let hub = TopicHub<String, Int>(retention: .last(1))
      let names = (0..<count).map { "topic \($0)" }
      let sequence = hub.events(for: names, from: .live)
      let begin = threadTime()
      hub.finish()
      let end = threadTime()
      withExtendedLifetime(sequence) {}
      return (end - begin) / count
    }
  }

  @Test("returning what a subscriber has missed of very many topics is not quadratic")
  func missedRangesOfManyTopics() {
    expectConstantCost(at: 200, 20_000) { count in
      let hub = TopicHub<String, Int>(retention: .last(1))
      let names = (0..<count).map { "topic \($0)" }
      let reader = hub.reader(for: names, from: .live) {}
      for name in names + names { hub.send(1, to: name) }
      let begin = threadTime()
      var ranges = 0
      while case .missed? = reader.nextIfAvailable() { ranges += 1 }
      let end = threadTime()
      #expect(ranges == count)
      return (end - begin) / count
    }
  }

  @Test("the statistics of a slow subscriber of very many topics are not quadratic")
  func statisticsOfManyTopics() {
    expectConstantCost(at: 40, 4_000) { count in
      let hub = TopicHub<String, Int>(retention: .last(4))
      let names = (0..<count).map { "topic \($0)" }
      let pending = count / 4
      let sequence = hub.events(
        for: names, from: .live, buffering: .bounded(pending, whenFull: .dropOldest))
      for name in names + names { hub.send(1, to: name) }
      let begin = threadTime()
      let statistics = hub.statistics
      let dropped = hub.droppedEvents
      let receivers = hub.snapshot.receivers
      let end = threadTime()
      #expect(dropped == 2 * count - pending)
      #expect(statistics.values.reduce(0) { $0 + $1.dropped } == dropped)
      #expect(statistics.values.reduce(0) { $0 + $1.pending } == pending)
      #expect(receivers.count == count)
      withExtendedLifetime(sequence) {}
      return (end - begin) / count
    }
  }

  /// Records an issue if the cost of one operation grows with how many there are.
  ///
  /// An operation that visited all of a hundred times as many would cost a hundred times as much.
  /// The allowance is for caches, growing tables and other load on the machine, because of which
  /// the least of some measurements counts.
  ///
  /// - Parameter cost: Nanoseconds of this thread for one of so many operations.
  private func expectConstantCost(
    at few: Int, _ many: Int, cost: (Int) -> Int, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let costOfFew = (0..<5).map { _ in cost(few) }.min()!
    let costOfMany = (0..<3).map { _ in cost(many) }.min()!
    #expect(
      costOfMany < 5 * costOfFew, "\(costOfFew) ns at \(few), \(costOfMany) ns at \(many)",
      sourceLocation: sourceLocation)
  }

  @Test(
    "statistics hold the lock of the log as long as for the topics of one reader, not for all",
    arguments: [1, 3, 300])
  func statisticsHoldTheLockShortly(topicsOfAReader count: Int) {
    let hub = TopicHub<String, Int>(retention: .last(1))
    let names = (0..<300 / count).map { reader in (0..<count).map { "\(reader) \($0)" } }
    let sequences = names.map {
      hub.events(for: $0, from: .live, buffering: .bounded(2, whenFull: .dropOldest))
    }
    var topics = 0
    var before = 0
    hub.requiredRetention.log.forEachTopic { _, statistics in
      if topics == 0 { for name in names.joined() { hub.send(1, to: name) } }
      topics += 1
      if statistics.retained == 0 { before += 1 }
    }
    #expect(topics == 300)
    #expect(before <= count)
    // Otherwise what a reader has missed would be computed for each of its topics.
    #expect(before >= count / 2)
    withExtendedLifetime(sequences) {}
  }

  @Test(
    "a registration costs at most 104 bytes beside the delegate, and no allocation for its handle")
  func memoryOfARegistration() throws {
    let hub = MulticastDelegate<any Observing>(storage: .waitFree)
    let delegates = (0..<100_000).map { RecordingObserver($0) }
    for delegate in delegates { hub += delegate }
    let storage = try #require(hub.registry.storage as? WaitFreeStorage)
    let entry = try #require(storage.snapshot().first??.allocatedBytes)
    // A word in the list and a word in the index for each slot.
    let slots = storage.capacity * 2 * MemoryLayout<Int>.size / delegates.count
    #expect(entry + slots <= 104, "\(entry) for the entry, \(slots) for its slot")
    #expect(MemoryLayout<Registration<any Observing>>.size == 24)
  }

  @Test("a subscription to an event hub costs at most 160 bytes beside what its handler captures")
  func memoryOfASubscription() throws {
    let hub = EventHub<Int>()
    let subscriptions = (0..<100_000).map { _ in hub.subscribe(on: .sender) { _ in } }
    let storage = try #require(hub.registry.storage as? WaitFreeStorage)
    let entry = try #require(storage.snapshot().first??.allocatedBytes)
    // A word in the list for each slot. Handlers are in no index.
    let slots = storage.capacity * MemoryLayout<Int>.size / subscriptions.count
    let handle = try #require(
      allocatedBytes(Unmanaged.passUnretained(subscriptions[0]).toOpaque()))
    #expect(
      entry + slots + handle <= 160,
      "\(entry) for the entry, \(slots) for its slot, \(handle) for the handle")
  }

  @Test("delegates that come and go, beside ten others, need a compaction for at least eight pairs")
  func compactionsOfChurn() throws {
    let hub = MulticastDelegate<any Observing>(storage: .waitFree)
    let residents = (0..<10).map { RecordingObserver($0) }
    for resident in residents { hub.add(resident) }
    let storage = try #require(hub.registry.storage as? WaitFreeStorage)
    let passing = RecordingObserver()
    var compactions = 0
    var used = storage.usedSlots
    for _ in 0..<1000 {
      hub.add(passing).cancel()
      if storage.usedSlots <= used { compactions += 1 }
      used = storage.usedSlots
    }
    #expect(hub.count == 10)
    #expect((1...125).contains(compactions), "\(compactions) for 1000 changes")
  }
}

extension WaitFreeStorage {
  fileprivate var capacity: Int { update { $0.slots.capacity } }
  fileprivate var usedSlots: Int { update { $0.slots.used } }
}

/// What the allocator has set aside for an object, with its own word.
private func allocatedBytes(_ object: UnsafeMutableRawPointer) -> Int? {
  // The overlay of the C library does not import the header that declares it.
  guard let symbol = dlsym(nil, "malloc_usable_size") else { return nil }
  typealias UsableSize = @convention(c) (UnsafeMutableRawPointer) -> Int
  // SAFETY: the C library documents this type for this name.
  return unsafeBitCast(symbol, to: UsableSize.self)(object) + MemoryLayout<Int>.size
}

extension Entry {
  /// What the allocator has set aside, with its own word.
  fileprivate var allocatedBytes: Int {
    // The capacity is derived from the size of the allocation, less the header of an object.
    (2 + capacity + 1) * MemoryLayout<Int>.size
  }
}
