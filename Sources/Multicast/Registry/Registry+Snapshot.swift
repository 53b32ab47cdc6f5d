internal import CMulticast

extension Registry {
  /// The receivers that are registered now and alive.
  ///
  /// - Parameter kind: what to call the receiver of an entry; `nil`: leave it out. It runs with no
  ///   lock held.
  func receivers(_ kind: (Entry) -> String?) -> [ReceiverSnapshot] {
    let now = cmulticast_monotonic_nanoseconds()
    return storage.snapshot().compactMap { entry in
      guard let entry, entry.isLive, let kind = kind(entry) else { return nil }
      let origin = entry.head.pointee.origin
      let mailbox = entry.mailbox
      return ReceiverSnapshot(
        topic: nil, site: origin.site, label: origin.record?.label, kind: kind,
        place: mailbox?.place ?? "sender", isKept: !entry.head.pointee.isWeak,
        isBlocked: entry.isBlocked,
        age: origin.record.map { Double(now - min(now, $0.began)) / 1_000_000_000 },
        timing: origin.record?.timer?.timing,
        statistics: mailbox.flatMap { $0.isFollowing ? nil : $0.statistics })
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
      dropped: receivers.reduce(0) { $0 + ($1.statistics?.dropped ?? 0) }, refused: 0)
  }
}
