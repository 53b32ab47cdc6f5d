import Dispatch
import Multicast
import MulticastTestSupport
import Testing

/// `dump`, `Mirror`, and the failed expectations of Swift Testing, which reflect what they show.
@Suite("Reflection reads nothing that other threads change")
struct ReflectionTests: ExternalLogSuite {
  /// A value of each type that has such parts.
  private func values() -> [Any] {
    let delegates = MulticastDelegate<RecordingObserver>()
    let delegate = RecordingObserver()
    let registration = delegates.add(delegate)
    let events = EventHub<Int>(retention: .all)
    let states = StateHub(0) { (state: inout Int, change: Int) in state += change }
    let topics = TopicHub<String, Int>(retention: .all)
    let (external, writer) = make(Broker())
    let sequence = events.events()
    let positioned = events.events(from: .live)
    let topicSequence = topics.events(for: ["a"], from: .live)
    let updates = states.updates()
    let fields = states.values { $0 }
    let batches = sequence.batches(upTo: 2)
    return [
      delegates, registration, registration.scoped(), delegates.makeIterator(),
      MulticastActor<RecordingObserver>(), HubDirectory(), events, states, topics, external, writer,
      events.subscribe { _ in }, topics.subscribe(to: "a") { _ in },
      topics.reader(for: ["a"], from: .live) {},
      sequence, sequence.makeAsyncIterator(),
      sequence.notingDrops(), sequence.notingDrops().makeAsyncIterator(),
      batches, batches.makeAsyncIterator(),
      batches.notingDrops(), batches.notingDrops().makeAsyncIterator(),
      sequence.throwingFailure(), sequence.throwingFailure().makeAsyncIterator(),
      positioned, positioned.makeAsyncIterator(),
      positioned.batches(upTo: 2), positioned.batches(upTo: 2).makeAsyncIterator(),
      topicSequence, topicSequence.makeAsyncIterator(),
      updates, updates.makeAsyncIterator(), fields, fields.makeAsyncIterator(),
    ]
  }

  @Test("no mirror has children")
  func mirrors() {
    for value in values() {
      let mirror = Mirror(reflecting: value)
      #expect(mirror.children.isEmpty && mirror.superclassMirror == nil, "\(type(of: value))")
      var text = ""
      dump(value, to: &text)
      #expect(text.split(separator: "\n").count == 1, "\(text)")
    }
  }

  @Test("a registration that has ended can be reflected")
  func endedRegistrations() {
    let hub = EventHub<Int>()
    let subscription = hub.subscribe { _ in }
    subscription.cancel()
    let owned = hub.subscribe(with: RecordingObserver()) { _, _ in }
    let delegates = MulticastDelegate<RecordingObserver>()
    let registration = delegates.add(RecordingObserver(), ownership: .strong)
    registration.cancel()
    for value in [subscription, owned, registration] as [Any] {
      var text = ""
      dump(value, to: &text)
      #expect(text.contains("(isActive: false)"), "\(text)")
    }
  }

  @Test("a hub can be reflected while other threads use it")
  func busyHub() {
    let hub = EventHub<String>(retention: .last(8))
    runThreads(3) { thread in
      for round in 0..<200 {
        if thread == 0 {
          var text = ""
          dump(hub, to: &text)
        } else {
          let subscription = hub.subscribe(on: .global()) { _ in }
          hub.send("an event that is too long to be stored inside of a string \(round)")
          subscription.cancel()
        }
      }
    }
    #expect(hub.subscriberCount == 0)
  }
}
