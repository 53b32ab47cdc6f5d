/// The state of a hub with an ``EventOpening``: a subscription begins anew after each block.
///
/// ## Thread safety
/// As ``HubState``.
final class OpeningState<Event: Sendable>: HubState, @unchecked Sendable {
  // Sendable: `hub` is set before the hub is used; the rest is constant.

  private let hubName: String?
  private let firstEvent: Envelope
  /// Handles keep this state, so it must not keep the hub.
  private var hub: UnownedReference<EventHub<Event>>?

  /// - Parameter firstEvent: see ``EventOpening/firstEvent``.
  init(_ name: String?, firstEvent: Event) {
    hubName = name
    self.firstEvent = Envelope(event: firstEvent)
    super.init()
  }

  /// Sets the hub whose state this is, before it is used.
  func begin(_ hub: EventHub<Event>) { self.hub = UnownedReference(hub) }

  override var name: String? { hubName }

  override var envelopeAfterBlock: Envelope? { firstEvent }

  override func blockEnded(of entry: Entry) {
    guard let hub = hub?.object else { return }
    _ = hub.sequencer?.open(entry, through: hub)
  }
}
