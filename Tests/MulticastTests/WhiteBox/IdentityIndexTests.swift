import MulticastTestSupport
import Testing

@testable import Multicast

@Suite("IdentityIndex")
struct IdentityIndexTests {
  private func makeEntry(_ delegate: RecordingObserver) -> Entry {
    Entry.make(delegate as any Observing, ownership: .weak)
  }

  @Test("an empty index finds nothing")
  func empty() {
    let index = IdentityIndex()
    #expect(index.first(at: 0) == nil)
    #expect(index.first(at: 64) == nil)
  }

  @Test("finds every entry at its address, and none that was removed")
  func findsEveryEntry() {
    let delegates = (0..<300).map { RecordingObserver($0) }
    let entries = delegates.map(makeEntry)
    var index = IdentityIndex()
    // More entries than buckets, so that the chains are long.
    for entry in entries { index.insert(.passUnretained(entry), of: 64) }
    for (delegate, entry) in zip(delegates, entries) {
      let found = index.first(at: Entry.identity(of: delegate)!)
      #expect(found?.takeUnretainedValue() === entry)
      #expect(index.next(after: found!) == nil)
    }
    for (position, entry) in entries.enumerated() where !position.isMultiple(of: 3) {
      index.remove(.passUnretained(entry))
    }
    for (position, delegate) in delegates.enumerated() {
      let found = index.first(at: Entry.identity(of: delegate)!)
      #expect((found != nil) == position.isMultiple(of: 3))
    }
  }

  @Test("entries of one address come newest first, from any position in the chain")
  func entriesOfOneAddress() {
    let delegate = RecordingObserver()
    let address = Entry.identity(of: delegate)!
    let entries = (0..<5).map { _ in makeEntry(delegate) }
    // The first, the last and one in the middle of the chain.
    for removed in 0..<5 {
      var index = IdentityIndex()
      for entry in entries { index.insert(.passUnretained(entry), of: 4) }
      index.remove(.passUnretained(entries[removed]))
      var found: [Int] = []
      var candidate = index.first(at: address)
      while let entry = candidate {
        found.append(entries.firstIndex { $0 === entry.takeUnretainedValue() }!)
        candidate = index.next(after: entry)
      }
      #expect(found == (0..<5).reversed().filter { $0 != removed })
    }
  }

  @Test("rebuilding drops the rest and keeps the order")
  func rebuilding() {
    let delegates = (0..<40).map { RecordingObserver($0) }
    let entries = delegates.map(makeEntry)
    var index = IdentityIndex()
    for entry in entries { index.insert(.passUnretained(entry), of: 16) }
    var kept = ArraySlots()
    kept.compact(to: 64)
    for entry in entries[20...] { kept.append(.passRetained(entry)) }
    index.rebuild(for: 64, kept)
    for (position, delegate) in delegates.enumerated() {
      let found = index.first(at: Entry.identity(of: delegate)!)
      #expect((found != nil) == (position >= 20))
    }
  }

  @Test("an entry that nothing searches for is not in it", arguments: [4, 64])
  func entriesThatOwnTheirValue(capacity: Int) {
    let owner = RecordingObserver()
    let entries = [
      Entry.make(1, owner: nil, mailbox: nil), Entry.make(2, owner: owner, mailbox: nil),
    ]
    var index = IdentityIndex()
    for entry in entries { index.insert(.passUnretained(entry), of: capacity) }
    for entry in entries {
      #expect(index.first(at: entry.head.pointee.address) == nil)
      index.remove(.passUnretained(entry))
    }
  }
}
