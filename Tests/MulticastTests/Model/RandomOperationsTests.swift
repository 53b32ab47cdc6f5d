import Multicast
import MulticastTestSupport
import Testing

@Suite("Random operations against a plain array")
struct RandomOperationsTests {
  @Test(
    "every operation leaves the hub as the model says", arguments: StorageStrategy.allCases,
    DuplicatePolicy.allCases)
  func operationsAgainstTheModel(storage: StorageStrategy, duplicates: DuplicatePolicy) {
    for series in 0..<8 as Range<UInt64> {
      var run = Run(
        storage: storage, duplicates: duplicates,
        seed: SplitMix64.runSeed &+ series &* 0x1_0000_0001,
        // From a handful, so that everything happens to each, to more than one bucket of anything.
        size: [2, 5, 12, 80][Int(series) % 4])
      guard run.steps(200) else { return }
      run.end()
    }
  }
}

/// A hub and a model to which the same is done.
private struct Run {
  private let hub: MulticastDelegate<any Observing>
  private var model: HubModel
  private var generator: SplitMix64
  private let tracker = LifetimeTracker()
  private let size: Int
  private var held: [Int: RecordingObserver] = [:]
  private var registrations: [(number: Int, handle: Registration<any Observing>)] = []
  private var born = 0
  private let name: String

  init(storage: StorageStrategy, duplicates: DuplicatePolicy, seed: UInt64, size: Int) {
    hub = MulticastDelegate(storage: storage, duplicates: duplicates)
    model = HubModel(duplicates: duplicates)
    generator = SplitMix64(seed: seed)
    self.size = size
    name = "\(storage), \(duplicates), STRESS_SEED=\(SplitMix64.runSeed)"
  }

  /// - Returns: whether the hub and the model agree.
  mutating func steps(_ count: Int) -> Bool {
    for step in 0..<count {
      let operation = operate()
      guard agree("after step \(step), \(operation)") else { return false }
    }
    return true
  }

  mutating func end() {
    for delegate in held.keys { model.drop(delegate) }
    held = [:]
    guard agree("when all are dropped") else { return }
    hub.removeAll()
    #expect(tracker.live == 0, "\(name)")
    #expect(registrations.allSatisfy { !$0.handle.isActive })
  }

  private mutating func operate() -> String {
    switch Int.random(in: 0..<100, using: &generator) {
    case 0..<25:
      let id = someDelegate()
      add(id, .weak)
      return "add \(id) weakly"
    case 25..<35:
      let id = someDelegate()
      add(id, .strong)
      return "add \(id) strongly"
    case 35..<50:
      let id = someDelegate()
      let (removed, isExpected) = (hub.remove(held[id]!), model.remove(id))
      #expect(removed == isExpected, "\(name)")
      return "remove \(id)"
    case 50..<65:
      guard let (number, handle) = registrations.randomElement(using: &generator) else { return "" }
      model.cancel(number)
      handle.cancel()
      return "cancel \(number)"
    case 65..<85:
      guard let id = held.keys.sorted().randomElement(using: &generator) else { return "" }
      model.drop(id)
      held[id] = nil
      return "drop \(id)"
    case 85..<92:
      hub.prune()
      #expect(hub.registeredEntries == model.entries.count, "\(name)")
      return "prune"
    case 92..<94:
      hub.removeAll()
      model.removeAll()
      return "remove all"
    default:
      let guests = Int.random(in: 1...size, using: &generator)
      for _ in 0..<guests { add(someDelegate(), .weak) }
      return "add \(guests)"
    }
  }

  private mutating func add(_ id: Int, _ ownership: Ownership) {
    let number = model.add(id, isStrong: ownership == .strong)
    registrations.append((number, hub.add(held[id]!, ownership: ownership)))
  }

  /// A delegate that is held here: one of those that are, or a new one.
  private mutating func someDelegate() -> Int {
    if held.count >= size, let id = held.keys.sorted().randomElement(using: &generator) {
      return id
    }
    born += 1
    held[born] = RecordingObserver(born, tracker: tracker)
    model.hold(born)
    return born
  }

  /// Compares the hub with the model in some of the possible ways: reading prunes, so that each has
  /// to be the first one at times.
  private mutating func agree(_ moment: String) -> Bool {
    for reading in Reading.allCases.shuffled(using: &generator).prefix(3) where !agree(reading) {
      Issue.record(
        "\(reading) is wrong \(moment), \(name): \(hub.map(\.id)), not \(model.delegates)")
      return false
    }
    // Handles of ended registrations are kept for a while only.
    if registrations.count > 40 { registrations.removeFirst(20) }
    return true
  }

  private enum Reading: CaseIterable {
    case count, isEmpty, delegates, sequence, isActive, lifetimes, contains, indices, subscripts
  }

  private func agree(_ reading: Reading) -> Bool {
    switch reading {
    case .count:
      return hub.count == model.entries.count
    case .isEmpty:
      return hub.isEmpty == model.entries.isEmpty
    case .delegates:
      return hub.delegates.map(\.id) == model.delegates
    case .sequence:
      return hub.map(\.id) == model.delegates
    case .isActive:
      return registrations.allSatisfy { $0.handle.isActive == model.isActive($0.number) }
    case .lifetimes:
      return tracker.live == model.alive.count
    case .contains:
      return held.allSatisfy { hub.contains($1) == model.delegates.contains($0) }
    case .indices:
      return held.allSatisfy { hub[$1] == model.delegates.firstIndex(of: $0) }
    case .subscripts:
      let end = model.delegates.count
      return hub[end - 1]?.id == model.delegates.last && hub[end] == nil
    }
  }
}
