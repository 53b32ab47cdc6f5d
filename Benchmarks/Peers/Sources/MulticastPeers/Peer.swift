internal import Multicast

/// A system, as the workloads use it.
struct Peer {
  let name: String
  /// Whether several threads may use it.
  var isThreadSafe = true
  /// The most observers with which registering is measured: for systems in which one more takes the
  /// longer, the more there are.
  var largestRegistration = Int.max
  private let strong: (any Rival.Type)?
  private let weak: (any Rival.Type)?

  /// Creates a hub, or returns `nil` if the system cannot hold observers so.
  func make(isWeak: Bool, _ handling: Reception.Handling) -> (any Rival)? {
    type(isWeak: isWeak)?.init(Reception(isWeak: isWeak, handling: handling))
  }

  /// The type of its hubs, or `nil` if the system cannot hold observers so.
  func type(isWeak: Bool) -> (any Rival.Type)? { isWeak ? weak : strong }
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
        name: "array under a lock", largestRegistration: 10_000,
        strong: LockedArray<StrongList>.self, weak: LockedArray<WeakList>.self),
      Peer(
        name: "array on a queue", largestRegistration: 10_000,
        strong: QueuedArray<StrongList>.self, weak: QueuedArray<WeakList>.self),
      Peer(
        name: "array in an actor", largestRegistration: 10_000,
        strong: ActorArray<StrongList>.self, weak: ActorArray<WeakList>.self),
      Peer(
        name: "C++ copy-on-write list", largestRegistration: 1000,
        strong: FunctionList.self, weak: FunctionList.self),
      Peer(
        name: "tutorial's weak array", isThreadSafe: false, largestRegistration: 10_000,
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
      JavaProcess.shared == nil
        ? "Java's CopyOnWriteArrayList is left out: no JDK on PATH (Debian: default-jdk-headless)"
        : nil,
      "Java's list is measured with strong observers only: its weak references last until a "
        + "collection",
      "the tutorial's weak array is left out of contention and churn: it is for one thread",
      "prune, compaction, actor and topics are measured by multicast-bench only: no rival here does"
        + " the same",
      "a class over NSHashTable is left out: Foundation has that on Apple's platforms only",
      "arrays are registered with up to 10000 observers only: removing one searches the array",
      "lists that are copied are registered with up to 1000 observers only: each change copies all",
    ].compactMap { $0 }
  }
}
