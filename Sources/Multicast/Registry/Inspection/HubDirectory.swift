/// A hub that can be seen into: every hub of this library.
///
/// ## Thread safety
/// Every operation may be called from any thread.
public protocol InspectableHub: AnyObject {
  /// The name that the hub was given.
  var name: String? { get }

  /// What the hub looks like now.
  var snapshot: HubSnapshot { get }
}

/// Hubs that a program wants to find by name, for example for a page that shows them.
///
/// A hub is in a directory only if it was added, and is not kept alive.
///
/// ```swift
/// let prices = EventHub<Price>(name: "prices")
/// HubDirectory.shared.add(prices)
///
/// print(HubDirectory.shared["prices"]?.description ?? "no such hub")
/// ```
///
/// ## Thread safety
/// Every operation may be called from any thread.
public final class HubDirectory: @unchecked Sendable, Unreflected {
  // Sendable: the variables are accessed inside `lock` alone.

  /// The directory of the process.
  public static let shared = HubDirectory()

  private struct WeakHub {
    let number: Int
    weak var hub: (any InspectableHub & Sendable)?
  }

  /// Guards the entries. A weak reference is read outside, where its reader may become the last
  /// owner.
  private let lock = Lock()
  private var entries: [WeakHub] = []
  private var added = 0
  /// The number of entries at which those of hubs that are gone are removed.
  private var limit = 16

  /// Creates an empty directory.
  public init() {}

  /// Adds `hub`, which stays in the directory as long as it lives.
  ///
  /// - Parameter hub: one that was added before is added once more.
  /// - Complexity: amortised O(1).
  public func add(_ hub: some InspectableHub & Sendable) {
    let full = lock.withLock { () -> [WeakHub] in
      added += 1
      entries.append(WeakHub(number: added, hub: hub))
      return entries.count > limit ? entries : []
    }
    guard !full.isEmpty else { return }
    let gone = Set(full.filter { $0.hub == nil }.map(\.number))
    lock.withLock {
      entries.removeAll { gone.contains($0.number) }
      limit = max(16, 2 * entries.count)
    }
  }

  /// The hubs of the directory, in the order in which they were added.
  ///
  /// - Complexity: O(hubs).
  public var hubs: [any InspectableHub & Sendable] {
    let entries = lock.withLock { self.entries }
    return entries.compactMap(\.hub)
  }

  /// A snapshot of each hub.
  ///
  /// - Complexity: O(receivers of all hubs).
  public var snapshots: [HubSnapshot] { hubs.map(\.snapshot) }

  /// A snapshot of the first hub with this name.
  ///
  /// - Parameter name: that of the hub.
  /// - Returns: the snapshot, or `nil` if there is no such hub.
  /// - Complexity: O(hubs), and O(receivers of the hub).
  public subscript(name: String) -> HubSnapshot? {
    hubs.first { $0.name == name }?.snapshot
  }
}
