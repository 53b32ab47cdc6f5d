/// The hub of the subscribers with the same patterns. It leaves its index when it has no more
/// users.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class PatternChannel<Topic: Hashable & Sendable, Event: Sendable>: PatternTarget,
  @unchecked Sendable
{
  // Sendable: `hub` is set before another thread has the channel.
  private(set) var hub: EventHub<TopicEvent<Topic, Event>>! = nil
  override var subject: Unmanaged<AnyObject> { .passUnretained(hub) }

  init(
    _ patterns: Set<TopicPattern>, in index: PatternIndex, _ gate: TopicGate,
    _ ordering: Ordering, _ storage: StorageStrategy, _ drops: DropCounter,
    _ carried: CarriedKeySet, _ inspection: HubInspection
  ) {
    super.init(patterns)
    let channel = UnownedReference(self)
    let index = UnownedReference(index)
    hub = EventHub(
      ordering: ordering, storage: storage,
      state: DetailedState(
        nil, inspection: inspection, drops: drops, carried: carried,
        onExpectation: { gate.addSubscribersOfAllTopics($0) }
      ) { difference in
        guard let channel = channel.object else { return }
        index.object?.change(channel, by: difference)
      })
  }
}
