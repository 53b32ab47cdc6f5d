import MulticastTestSupport
import Testing

@testable import Multicast

@Suite("EntryTable")
struct EntryTableTests {
  @Test("in an array")
  func inAnArray() {
    checkFilling { EntryTable(ArraySlots()) }
    checkReplacing { EntryTable(ArraySlots()) }
    checkShrinking { EntryTable(ArraySlots()) }
    checkRemovingAll { EntryTable(ArraySlots()) }
  }

  @Test("in published slots")
  func inPublishedSlots() {
    checkFilling {
      EntryTable(PublishedSlots(capacity: EntryTable<PublishedSlots>.minimumCapacity))
    }
    checkReplacing {
      EntryTable(PublishedSlots(capacity: EntryTable<PublishedSlots>.minimumCapacity))
    }
    checkShrinking {
      EntryTable(PublishedSlots(capacity: EntryTable<PublishedSlots>.minimumCapacity))
    }
    checkRemovingAll {
      EntryTable(PublishedSlots(capacity: EntryTable<PublishedSlots>.minimumCapacity))
    }
  }

  private let delegates = (0..<100).map { RecordingObserver($0) }

  private func makeEntry(_ id: Int) -> Entry {
    Entry.make(delegates[id] as any Observing, ownership: .weak)
  }

  private func ids<Slots>(_ roster: EntryTable<Slots>) -> [Int] {
    roster.slots.entries.map { entry in
      entry.takeUnretainedValue().liveValue(as: (any Observing).self)!.id
    }
  }

  /// Adds, with more room if need be.
  private func insert<Slots>(
    _ entry: Entry, _ roster: inout EntryTable<Slots>, _ duplicates: DuplicatePolicy = .ignored
  ) -> Insertion {
    let insertion = roster.insert(entry, duplicates: duplicates, mayGrow: false)
    guard case .full = insertion else { return insertion }
    return roster.insert(entry, duplicates: duplicates, mayGrow: true)
  }

  private func checkFilling<Slots>(_ make: () -> EntryTable<Slots>) {
    var roster = make()
    var full = 0
    for id in 0..<100 {
      let entry = makeEntry(id)
      var insertion = roster.insert(entry, duplicates: .ignored, mayGrow: false)
      if case .full = insertion {
        full += 1
        #expect(roster.count == id, "nothing has changed")
        #expect(roster.slots.used == roster.slots.capacity)
        insertion = roster.insert(entry, duplicates: .ignored, mayGrow: true)
      }
      guard case .added = insertion else {
        Issue.record("\(insertion)")
        return
      }
      #expect(roster.count == id + 1)
    }
    #expect((4...8).contains(full), "it grows by a factor: \(full) times")
    #expect(ids(roster) == Array(0..<100))
    for id in 0..<100 {
      let registered = roster.registered(at: Entry.identity(of: delegates[id])!)
      #expect(registered?.takeUnretainedValue() != nil)
      guard case .exists = insert(makeEntry(id), &roster) else {
        Issue.record("\(id) was added twice")
        return
      }
    }
    #expect(roster.count == 100)
  }

  private func checkReplacing<Slots>(_ make: () -> EntryTable<Slots>) {
    var roster = make()
    let entries = (0..<10).map(makeEntry)
    for entry in entries { _ = insert(entry, &roster, .replaced) }
    for _ in 0..<20 {
      for id in 0..<10 {
        let entry = makeEntry(id)
        guard case .replaced(let old) = insert(entry, &roster, .replaced) else {
          Issue.record("\(id) was not replaced")
          return
        }
        #expect(!old.isLive)
        #expect(entry.isLive)
        #expect(roster.remove(old) == nil, "it is not there any more")
      }
      #expect(ids(roster) == Array(0..<10))
    }
    #expect(roster.count == 10)
    #expect(roster.slots.capacity <= 32)
  }

  private func checkShrinking<Slots>(_ make: () -> EntryTable<Slots>) {
    var roster = make()
    let entries = (0..<100).map(makeEntry)
    for entry in entries { _ = insert(entry, &roster) }
    let capacity = roster.slots.capacity
    for id in 0..<97 {
      #expect(roster.remove(entries[id]) === entries[id])
      #expect(roster.remove(entries[id]) == nil)
      #expect(roster.count == 99 - id)
    }
    #expect(ids(roster) == [97, 98, 99])
    #expect(roster.slots.capacity < capacity / 4)
    let removed = roster.removeAll(at: Entry.identity(of: delegates[98])!)
    #expect(removed.count == 1)
    #expect(roster.removeAll(at: Entry.identity(of: delegates[98])!).isEmpty)
    #expect(ids(roster) == [97, 99])
  }

  private func checkRemovingAll<Slots>(_ make: () -> EntryTable<Slots>) {
    var roster = make()
    for round in 0..<3 {
      let entries = (0..<50).map(makeEntry)
      for entry in entries { _ = insert(entry, &roster) }
      let removed = roster.removeAll()
      #expect(removed.elementsEqual(entries, by: ===), "round \(round)")
      #expect(entries.allSatisfy { !$0.isLive })
      #expect(roster.count == 0)
      #expect(roster.slots.entries.isEmpty)
      #expect(roster.removeAll().isEmpty)
      #expect(roster.registered(at: Entry.identity(of: delegates[0])!) == nil)
    }
  }
}
