import Multicast
import MulticastTestSupport

/// What a hub may be a hub of.
enum DelegateKind: CaseIterable {
  case classBoundProtocol
  case protocolWithoutClassBound
  case composition
  case concreteClass
  case subclass
  case actor

  /// Runs `law` for this kind.
  func check(_ law: some DelegateLaw) {
    switch self {
    case .classBoundProtocol:
      law.check(
        Sample<any Observing> {
          RecordingObserver($0, journal: $1, tracker: $2)
        } call: {
          $0.receive(1)
        })
    case .protocolWithoutClassBound:
      law.check(
        Sample<any Listening> {
          RecordingObserver($0, journal: $1, tracker: $2)
        } call: {
          $0.receive(1)
        })
    case .composition:
      law.check(
        Sample<any Observing & Listening> {
          RecordingActor($0, journal: $1, tracker: $2)
        } call: {
          ($0 as any Observing).receive(1)
        })
    case .concreteClass:
      law.check(
        Sample<RecordingObserver> { id, journal, tracker in
          id.isMultiple(of: 2)
            ? RecordingObserver(id, journal: journal, tracker: tracker)
            : ReportingObserver(id, journal: journal, tracker: tracker)
        } call: {
          $0.receive(1)
        })
    case .subclass:
      law.check(
        Sample<ReportingObserver> {
          ReportingObserver($0, journal: $1, tracker: $2)
        } call: {
          $0.receive(1)
        })
    case .actor:
      law.check(
        Sample<RecordingActor> {
          RecordingActor($0, journal: $1, tracker: $2)
        } call: {
          $0.receive(1)
        })
    }
  }
}

/// How to make a delegate of one kind, and how to call it.
struct Sample<Delegate: Sendable>: Sendable {
  let make: @Sendable (Int, Journal, LifetimeTracker) -> Delegate
  let call: @Sendable (Delegate) -> Void

  init(
    _ make: @escaping @Sendable (Int, Journal, LifetimeTracker) -> Delegate,
    call: @escaping @Sendable (Delegate) -> Void
  ) {
    self.make = make
    self.call = call
  }
}

/// Something that is true for every kind of delegate.
protocol DelegateLaw {
  func check<Delegate: Sendable>(_ sample: Sample<Delegate>)
}
