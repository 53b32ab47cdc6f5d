/// What the topics of one hub have in common.
///
/// Their states keep it, and subscriptions the states. Subscriptions may outlive the hub of topics,
/// so this keeps neither topics nor subscribers alive.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class TopicCommon<Topic: Hashable & Sendable, Event: Sendable>: Sendable {
  /// The hubs of the topics.
  let topics: UnownedReference<TopicTable<Topic, Event>>
  /// The hubs that have left the topics, and are not done.
  let finishedTopics: UnownedReference<FinishedTopics<Event>>
  /// Whether an event goes further than to the subscribers of its topic.
  let gate: TopicGate
  /// Where it goes then.
  let crossTopic: UnownedReference<CrossTopicDelivery<Topic, Event>>
  /// Delivers an event of a topic; see ``EventHub/delivery``.
  let delivery: EventHub<Event>.Delivery
  /// Counts the drops of all topics, and warns once.
  let drops: DropCounter
  /// The task-local keys that the subscribers of all topics and of patterns have asked for.
  let carried: CarriedKeySet
  /// What is observed of the registrations for all topics.
  let inspection: HubInspection

  init(
    _ topics: TopicTable<Topic, Event>, _ finishedTopics: FinishedTopics<Event>, _ gate: TopicGate,
    _ crossTopic: CrossTopicDelivery<Topic, Event>, _ delivery: @escaping EventHub<Event>.Delivery,
    _ drops: DropCounter, _ carried: CarriedKeySet, _ inspection: HubInspection
  ) {
    self.topics = UnownedReference(topics)
    self.finishedTopics = UnownedReference(finishedTopics)
    self.gate = gate
    self.crossTopic = UnownedReference(crossTopic)
    self.delivery = delivery
    self.drops = drops
    self.carried = carried
    self.inspection = inspection
  }
}
