internal import CMulticast

/// What reads events elsewhere, after the receiver of an entry has told it that there are some.
struct EventReader {
  /// That of the entry: while this exists, no other entry has its address.
  let handle: EntryHandle
  let kind: String
  let place: String
  var isKept = true
  var isBlocked = false
  let statistics: DeliveryStatistics?
}

extension Registry {
  /// The receivers that are registered now and alive.
  ///
  /// - Parameters:
  ///   - kind: what to call the receiver of an entry; `nil`: leave it out. It runs with no lock
  ///     held.
  ///   - readers: what reads the events elsewhere, and is only told by the receiver of an entry
  ///     that there are some; by the address of the entry.
  func receivers(
    _ kind: (Entry) -> String?, readers: [UnsafeMutableRawPointer: EventReader] = [:]
  ) -> [ReceiverSnapshot] {
    let now = cmulticast_monotonic_nanoseconds()
    return storage.snapshot().compactMap { entry in
      guard let entry, entry.isLive, let kind = kind(entry) else { return nil }
      let origin = entry.head.pointee.origin
      let mailbox = entry.mailbox
      let reader = readers[Unmanaged.passUnretained(entry).toOpaque()]
      return ReceiverSnapshot(
        topic: nil, site: origin.site, label: origin.record?.label, kind: reader?.kind ?? kind,
        place: reader?.place ?? mailbox?.place ?? "sender",
        isKept: !entry.head.pointee.isWeak && reader?.isKept != false,
        isBlocked: entry.isBlocked || reader?.isBlocked == true,
        age: origin.record.map { Double(now - min(now, $0.began)) / 1_000_000_000 },
        timing: origin.record?.timer?.timing,
        statistics: reader?.statistics
          ?? mailbox.flatMap { $0.isFollowing ? nil : $0.statistics })
    }
  }

  /// A snapshot of a hub of delegates.
  func snapshot<Delegate>(of type: String, for _: Delegate.Type) -> HubSnapshot {
    let receivers = receivers { entry in
      entry.liveValue(as: Delegate.self, isCalled: false)
        .map { "\(Swift.type(of: $0 as Any))" }
    }
    return HubSnapshot(
      type: "\(type)<\(Delegate.self)>", name: name, receivers: receivers,
      dropped: extras?.callDrops?.total ?? 0, refused: 0)
  }
}
