import Multicast

/// The model of a hub: a plain array.
struct HubModel {
  struct Entry {
    let registration: Int
    let delegate: Int
    let isStrong: Bool
  }

  let duplicates: DuplicatePolicy
  private(set) var entries: [Entry] = []
  /// Delegates that are held outside the hub.
  private(set) var held: Set<Int> = []
  private var registrations = 0

  init(duplicates: DuplicatePolicy) {
    self.duplicates = duplicates
  }

  /// The delegates in order, one for each entry.
  var delegates: [Int] { entries.map(\.delegate) }

  /// Every delegate that exists.
  var alive: Set<Int> { held.union(entries.lazy.filter(\.isStrong).map(\.delegate)) }

  func isActive(_ registration: Int) -> Bool {
    entries.contains { $0.registration == registration }
  }

  mutating func hold(_ delegate: Int) {
    held.insert(delegate)
  }

  mutating func drop(_ delegate: Int) {
    held.remove(delegate)
    forgetTheDead()
  }

  /// - Returns: the number of the registration.
  mutating func add(_ delegate: Int, isStrong: Bool) -> Int {
    let existing = entries.firstIndex { $0.delegate == delegate }
    if let existing {
      switch duplicates {
      case .ignore:
        guard isStrong && !entries[existing].isStrong else { return entries[existing].registration }
        registrations += 1
        entries[existing] = Entry(
          registration: registrations, delegate: delegate, isStrong: true)
        return registrations
      case .allow: break
      case .replace: entries.remove(at: existing)
      }
    }
    registrations += 1
    entries.append(Entry(registration: registrations, delegate: delegate, isStrong: isStrong))
    forgetTheDead()
    return registrations
  }

  mutating func remove(_ delegate: Int) -> Bool {
    let found = entries.contains { $0.delegate == delegate }
    entries.removeAll { $0.delegate == delegate }
    forgetTheDead()
    return found
  }

  mutating func cancel(_ registration: Int) {
    entries.removeAll { $0.registration == registration }
    forgetTheDead()
  }

  mutating func removeAll() {
    entries = []
  }

  private mutating func forgetTheDead() {
    let alive = alive
    entries.removeAll { !alive.contains($0.delegate) }
  }
}
