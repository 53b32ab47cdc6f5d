internal import Multicast

/// A system, as the workloads use it.
struct Peer {
  let name: String
  /// Whether several threads may use it.
  var isThreadSafe = true
  /// Whether removing by a token takes the longer, the more observers there are.
  var searchesToRemove = false
  private let strong: (any Rival.Type)?
  private let weak: (any Rival.Type)?

  /// Creates a hub, or returns `nil` if the system cannot hold observers so.
  func make(isWeak: Bool, _ handling: Reception.Handling) -> (any Rival)? {
    let type = isWeak ? weak : strong
    return type?.init(Reception(isWeak: isWeak, handling: handling))
  }
}

extension Peer {
  static let ours = "MulticastDelegate"

  /// All systems, this library first.
  static var all: [Peer] {
    var peers = [
      Peer(name: ours, strong: OurDelegate.self, weak: OurDelegate.self),
      Peer(name: "EventHub", strong: OurHub.self, weak: OurHub.self),
      Peer(name: "OpenCombine", strong: OpenCombineSubject.self, weak: OpenCombineSubject.self),
      Peer(name: "NotificationCenter", strong: Notifications.self, weak: Notifications.self),
      Peer(
        name: "array under a lock", searchesToRemove: true,
        strong: LockedArray<StrongList>.self, weak: LockedArray<WeakList>.self),
      Peer(
        name: "array on a queue", searchesToRemove: true,
        strong: QueuedArray<StrongList>.self, weak: QueuedArray<WeakList>.self),
      Peer(
        name: "array in an actor", searchesToRemove: true,
        strong: ActorArray<StrongList>.self, weak: ActorArray<WeakList>.self),
      Peer(
        name: "tutorial's weak array", isThreadSafe: false, searchesToRemove: true,
        strong: nil, weak: TutorialArray.self),
    ]
    if Signals2.isAvailable {
      peers.append(Peer(name: "Boost.Signals2", strong: Signals2.self, weak: Signals2.self))
    }
    return peers
  }

  /// Which systems are left out of what, and why.
  static var notes: [String] {
    [
      Signals2.isAvailable
        ? nil
        : "Boost.Signals2 is left out: its headers were not there when this was built (Debian: "
          + "libboost-dev; then swift package clean)",
      "the tutorial's weak array is left out of contention and churn: it is for one thread",
      "prune, compaction, actor and topics are measured by multicast-bench only: no rival here does"
        + " the same",
      "a class over NSHashTable is left out: Foundation has that on Apple's platforms only",
      "arrays are registered with up to 10000 observers only: removing one searches the array",
    ].compactMap { $0 }
  }
}
