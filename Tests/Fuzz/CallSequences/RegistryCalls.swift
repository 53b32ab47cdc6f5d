import ConcurrencyStress
import Multicast

/// Calls of a `MulticastDelegate`, also inside callbacks, compared with a list.
public enum RegistryCalls: CallSequence {
  public static let name = "registry"

  public static func run(_ bytes: [UInt8]) -> String? {
    let lifetimes = LifetimeTracker()
    let violation = RegistryRun(bytes, lifetimes).perform()
    if let violation { return violation }
    return lifetimes.live == 0 ? nil : "\(lifetimes.live) delegates were never destroyed"
  }
}

/// A delegate.
private final class Listener: Sendable {
  let id: Int
  private let lifetimes: LifetimeTracker

  init(_ id: Int, _ lifetimes: LifetimeTracker) {
    self.id = id
    self.lifetimes = lifetimes
    lifetimes.noteCreation()
  }

  deinit { lifetimes.noteDestruction() }
}

/// A registration, as the model has it.
private struct ModelEntry {
  let registration: Int
  let delegate: Int
  let isStrong: Bool
}

private final class RegistryRun {
  private var bytes: CallBytes
  private let hub: MulticastDelegate<Listener>
  private let duplicates: DuplicatePolicy
  private let lifetimes: LifetimeTracker
  /// The delegates that are held outside of the hub.
  private var held: [Int: Listener] = [:]
  private var handles: [(registration: Int, handle: Registration<Listener>)] = []
  private var entries: [ModelEntry] = []
  /// The delegates that have a strong entry, or had one in the running invocations.
  private var strong: Set<Int> = []
  private var registrations = 0
  private var delegates = 0
  /// The delegates that are being called.
  private var called: [Int] = []
  /// The number of invocations that are running.
  private var depth = 0
  /// Delegates without an owner whose strong registration ended in the running invocations: they
  /// end with these at the latest.
  private var ending: Set<Int> = []
  /// The number of actions outside of invocations.
  private var actions = 0
  private var violation: String?

  init(_ bytes: [UInt8], _ lifetimes: LifetimeTracker) {
    var bytes = CallBytes(bytes)
    let storage = StorageStrategy.allCases[bytes.next(StorageStrategy.allCases.count)]
    duplicates = DuplicatePolicy.allCases[bytes.next(DuplicatePolicy.allCases.count)]
    hub = MulticastDelegate(storage: storage, duplicates: duplicates)
    self.bytes = bytes
    self.lifetimes = lifetimes
  }

  func perform() -> String? {
    while !bytes.isEmpty && violation == nil {
      act()
      actions += 1
      compareWithoutPruning()
      // Not after each: it prunes, and then no new delegate meets the entry of a dead one that had
      // its address.
      if actions % 4 == 0 { compare() }
    }
    if violation == nil { compare() }
    return violation
  }

  private func fail(_ message: String) {
    if violation == nil { violation = message }
  }

  private func act() {
    defer { forgetTheDead() }
    switch bytes.next(12) {
    case 0, 1, 2: add(isStrong: false)
    case 3: add(isStrong: true)
    case 4: remove()
    case 5, 6: cancel()
    case 7: drop()
    case 8: hub.prune()
    case 9 where called.isEmpty || bytes.next(4) == 0:
      hub.removeAll()
      entries = []
    default: invoke()
    }
  }

  private func add(isStrong: Bool) {
    let id = bytes.next(8)
    let listener: Listener
    if let existing = held[id] {
      listener = existing
    } else {
      // A number stands for one object, for as long as that lives.
      guard !called.contains(id), !ending.contains(id),
        !entries.contains(where: { $0.delegate == id })
      else { return }
      listener = Listener(id, lifetimes)
      held[id] = listener
      if hub.contains(listener) { fail("\(id) is registered before it is added") }
    }
    let handle = hub.add(listener, ownership: isStrong ? .strong : .weak)
    handles.append((model(id, isStrong), handle))
    if handles.count > 12 { handles.removeFirst() }
  }

  /// - Returns: the registration that the model has made, or kept.
  private func model(_ id: Int, _ isStrong: Bool) -> Int {
    if let index = entries.firstIndex(where: { $0.delegate == id }) {
      switch duplicates {
      case .allow: break
      case .replace: entries.remove(at: index)
      case .ignore:
        guard isStrong && !entries[index].isStrong else { return entries[index].registration }
        registrations += 1
        entries[index] = ModelEntry(registration: registrations, delegate: id, isStrong: true)
        return registrations
      }
    }
    registrations += 1
    entries.append(ModelEntry(registration: registrations, delegate: id, isStrong: isStrong))
    return registrations
  }

  private func remove() {
    let id = bytes.next(8)
    guard let listener = held[id] else { return removeStranger(id) }
    let found = entries.contains { $0.delegate == listener.id }
    entries.removeAll { $0.delegate == listener.id }
    if hub.remove(listener) != found { fail("remove(\(listener.id)) did not return \(found)") }
  }

  /// Removes a delegate that was never added, perhaps at the address of a dead one.
  ///
  /// `firstIndex(of:)` prunes, so only some ask it: `remove` is to meet dead ones too.
  private func removeStranger(_ id: Int) {
    let stranger = Listener(id, lifetimes)
    if id < 4, hub.firstIndex(of: stranger) != nil { fail("a stranger has an index") }
    if hub.contains(stranger) { fail("contains a stranger") }
    if hub.remove(stranger) { fail("a stranger was removed") }
  }

  private func cancel() {
    guard !handles.isEmpty else { return }
    let (registration, handle) = handles[bytes.next(handles.count)]
    handle.cancel()
    entries.removeAll { $0.registration == registration }
  }

  private func drop() {
    let id = bytes.next(8)
    // An invocation keeps what it calls.
    guard !called.contains(id), held[id] != nil else { return }
    held[id] = nil
  }

  /// Removes the weak entries of delegates without an owner.
  private func forgetTheDead() {
    let owned = owned
    if depth == 0 {
      strong = []
      ending = []
    } else {
      ending.formUnion(strong.subtracting(owned))
    }
    strong.formUnion(entries.filter(\.isStrong).map(\.delegate))
    entries.removeAll { !owned.contains($0.delegate) && !called.contains($0.delegate) }
  }

  /// The delegates with an owner.
  private var owned: Set<Int> {
    Set(held.keys).union(entries.filter(\.isStrong).map(\.delegate))
  }

  private func invoke() {
    guard called.count < 3 else { return }
    var rest = entries[...]
    depth += 1
    hub.forEach { listener in
      // What was passed over has been removed, or replaced, since the invocation began. A delegate
      // that was replaced is called by its old registration or by its new one.
      let match =
        rest.firstIndex { $0.delegate == listener.id && isRegistered($0) }
        ?? rest.firstIndex { $0.delegate == listener.id }
      guard let match else {
        if ending.contains(listener.id) { return }
        return fail("\(listener.id) was called once too often")
      }
      for entry in rest[..<match] where isRegistered(entry) {
        fail("\(entry.delegate) was passed over")
      }
      rest = rest[(match + 1)...]
      if !ending.contains(listener.id), !entries.contains(where: { $0.delegate == listener.id }) {
        fail("\(listener.id) was called, and is not registered")
      }
      called.append(listener.id)
      for _ in 0..<bytes.next(3) where violation == nil { act() }
      called.removeLast()
      forgetTheDead()
    }
    for entry in rest where isRegistered(entry) { fail("\(entry.delegate) was not called") }
    depth -= 1
    forgetTheDead()
  }

  private func isRegistered(_ entry: ModelEntry) -> Bool {
    entries.contains { $0.registration == entry.registration }
  }

  /// Compares the hub with the model, and leaves the entries of dead delegates in it.
  private func compareWithoutPruning() {
    guard ending.isEmpty else { return }
    for (id, listener) in held
    where hub.contains(listener) != entries.contains(where: { $0.delegate == id }) {
      fail("contains(\(id)) is wrong")
    }
    for (registration, handle) in handles {
      let isActive = entries.contains { $0.registration == registration }
      if handle.isActive != isActive { fail("isActive is not \(isActive)") }
    }
    if lifetimes.live != owned.count { fail("\(lifetimes.live) live, not \(owned.count)") }
  }

  /// Compares the hub with the model.
  private func compare() {
    let expected = entries.map(\.delegate).filter { !ending.contains($0) }
    let actual = hub.delegates.map(\.id).filter { !ending.contains($0) }
    if actual != expected { fail("the hub has \(actual), not \(expected)") }
    for (id, listener) in held where hub.contains(listener) != expected.contains(id) {
      fail("contains(\(id)) is wrong")
    }
    guard ending.isEmpty else { return }
    if hub.count != expected.count { fail("the count is \(hub.count), not \(expected.count)") }
    if hub.isEmpty != expected.isEmpty { fail("isEmpty is wrong") }
    for (id, listener) in held where hub.firstIndex(of: listener) != expected.firstIndex(of: id) {
      fail("firstIndex(of: \(id)) is wrong")
    }
  }
}
