/// A delegate that is no protocol's.
final class CountingListener: @unchecked Sendable {
  // Sendable: one thread uses it at a time.
  private var received = 0

  func notify(_ event: Int) { received &+= event }

  func answer(_ event: Int) -> Int { event }

  func takeReceived() -> Int {
    defer { received = 0 }
    return received
  }
}

/// What a weak hub of them is measured against: see ``BareWeakList``.
struct BareWeakListeners {
  struct Slot: ~Copyable {
    weak var observer: CountingListener?
  }

  let slots: UnsafeMutablePointer<Slot>
  let count: Int

  /// The list is never freed, and does not keep the listeners.
  init(_ listeners: [CountingListener]) {
    count = listeners.count
    slots = .allocate(capacity: count)
    for (index, listener) in listeners.enumerated() {
      (slots + index).initialize(to: Slot(observer: listener))
    }
  }
}
