import MulticastTestSupport
import Testing

@testable import Multicast

@Suite("EntryTable")
struct EntryTableTests {
  @Test("in an array")
  func inAnArray() {
    checkFilling { EntryTable(ArraySlots()) }
    checkReplacing { EntryTable(ArraySlots()) }
    checkExchanging { EntryTable(ArraySlots()) }
    checkShrinking { EntryTable(ArraySlots()) }
    checkRemovingAll { EntryTable(ArraySlots()) }
  }

  @Test("in published slots")
  func inPublishedSlots() {
    checkFilling {
      EntryTable(PublishedSlots())
    }
    checkReplacing {
      EntryTable(PublishedSlots())
    }
    checkExchanging {
      EntryTable(PublishedSlots())
    }
    checkShrinking {
      EntryTable(PublishedSlots())
    }
    checkRemovingAll {
      EntryTable(PublishedSlots())
    }
  }

  private let delegates = (0..<100).map { RecordingObserver($0) }

  private func makeEntry(_ id: Int) -> Entry {
    Entry.make(delegates[id] as any Observing, ownership: .weak)
  }

  private func ids<Slots>(_ table: borrowing EntryTable<Slots>) -> [Int] {
    var ids: [Int] = []
    table.slots.forEachEntry { _, entry in
      let entry = entry.takeUnretainedValue()
      ids.append(entry.liveValue(as: (any Observing).self, isCalled: false)!.id)
    }
    return ids
  }

  /// Adds, and grows the list if necessary.
  private func insert<Slots>(
    _ entry: Entry, _ table: inout EntryTable<Slots>, _ duplicates: DuplicatePolicy = .ignore
  ) -> Insertion {
    let insertion = table.insert(entry, duplicates: duplicates, mayGrow: false)
    guard case .full = insertion else { return insertion }
    return table.insert(entry, duplicates: duplicates, mayGrow: true)
  }

  private func checkExchanging<Slots>(_ make: () -> EntryTable<Slots>) {
    var table = make()
    let entries = (0..<3).map { makeEntry($0) }
    for entry in entries { _ = insert(entry, &table) }
    let (new, late) = (makeEntry(1), makeEntry(1))
    let address = Entry.identity(of: delegates[1])!
    #expect(table.exchange(entries[1], for: new) === entries[1])
    #expect(ids(table) == [0, 1, 2] && table.count == 3)
    #expect(table.registered(at: address)?.takeUnretainedValue() === new)
    // Another thread found the old one before it was exchanged: it must try again.
    #expect(table.exchange(entries[1], for: late) == nil)
    #expect(table.registered(at: address)?.takeUnretainedValue() === new)
    #expect(table.remove(.passUnretained(new)) === new)
    #expect(table.exchange(new, for: late) == nil)
    #expect(table.registered(at: address) == nil)
    #expect(ids(table) == [0, 2] && table.count == 2)
  }

  private func checkFilling<Slots>(_ make: () -> EntryTable<Slots>) {
    var table = make()
    var full = 0
    for id in 0..<100 {
      let entry = makeEntry(id)
      var insertion = table.insert(entry, duplicates: .ignore, mayGrow: false)
      if case .full = insertion {
        full += 1
        #expect(table.count == id, "nothing has changed")
        #expect(table.slots.used == table.slots.capacity)
        insertion = table.insert(entry, duplicates: .ignore, mayGrow: true)
      }
      guard case .added = insertion else {
        Issue.record("\(insertion)")
        return
      }
      #expect(table.count == id + 1)
    }
    #expect((4...6).contains(full), "it grows by a factor: \(full) times")
    #expect(ids(table) == Array(0..<100))
    for id in 0..<100 {
      let registered = table.registered(at: Entry.identity(of: delegates[id])!)
      #expect(registered?.takeUnretainedValue() != nil)
      guard case .exists = insert(makeEntry(id), &table) else {
        Issue.record("\(id) was added twice")
        return
      }
    }
    #expect(table.count == 100)
  }

  private func checkReplacing<Slots>(_ make: () -> EntryTable<Slots>) {
    var table = make()
    let entries = (0..<10).map(makeEntry)
    for entry in entries { _ = insert(entry, &table, .replace) }
    for _ in 0..<20 {
      for id in 0..<10 {
        let entry = makeEntry(id)
        guard case .replaced(let old) = insert(entry, &table, .replace) else {
          Issue.record("\(id) was not replaced")
          return
        }
        #expect(!old.isLive)
        #expect(entry.isLive)
        #expect(table.remove(.passUnretained(old)) == nil, "it is not there any more")
      }
      #expect(ids(table) == Array(0..<10))
    }
    #expect(table.count == 10)
    #expect(table.slots.capacity <= 32)
  }

  private func checkShrinking<Slots>(_ make: () -> EntryTable<Slots>) {
    var table = make()
    let entries = (0..<100).map(makeEntry)
    for entry in entries { _ = insert(entry, &table) }
    let capacity = table.slots.capacity
    for id in 0..<97 {
      #expect(table.remove(.passUnretained(entries[id])) === entries[id])
      #expect(table.remove(.passUnretained(entries[id])) == nil)
      #expect(table.count == 99 - id)
    }
    #expect(ids(table) == [97, 98, 99])
    #expect(table.slots.capacity < capacity / 4)
    let removed = table.removeAll(at: Entry.identity(of: delegates[98])!)
    #expect(removed.count == 1)
    #expect(table.removeAll(at: Entry.identity(of: delegates[98])!).isEmpty)
    #expect(ids(table) == [97, 99])
  }

  private func checkRemovingAll<Slots>(_ make: () -> EntryTable<Slots>) {
    var table = make()
    for round in 0..<3 {
      let entries = (0..<50).map(makeEntry)
      for entry in entries { _ = insert(entry, &table) }
      let removed = table.removeAll()
      #expect(removed.elementsEqual(entries, by: ===), "round \(round)")
      #expect(entries.allSatisfy { !$0.isLive })
      #expect(table.count == 0)
      #expect(ids(table).isEmpty)
      #expect(table.removeAll().isEmpty)
      #expect(table.registered(at: Entry.identity(of: delegates[0])!) == nil)
    }
  }
}
