internal import CMulticast
internal import Synchronization

/// The number of blocks of each entry that is blocked.
///
/// Few entries are ever blocked, so an entry has no field for it.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class BlockCounts: @unchecked Sendable {
  // Sendable: everything that changes is accessed inside `lock` alone.

  static let shared = BlockCounts()

  /// Guards the counts, and the bits of the entries that they belong to. An entry gets a mailbox
  /// inside. No user code runs inside.
  private let lock = Lock()
  /// By the address of an entry, whose memory an unowned reference keeps: no other entry can have
  /// the same address.
  private var counts: [UnsafeMutableRawPointer: Int] = [:]
  /// The number of counts at which those of removed entries are forgotten.
  private var limit = 16

  private init() {}

  func block(_ entry: Entry) {
    let address = Unmanaged.passUnretained(entry).toOpaque()
    let forgotten = lock.withLock { () -> [UnsafeMutableRawPointer] in
      let count = counts[address] ?? 0
      if count == 0 { _ = swift_unownedRetain(address) }
      counts[address] = count + 1
      entry.setBlocked(true)
      return forgetRemoved()
    }
    for address in forgotten { swift_unownedRelease(address) }
  }

  func unblock(_ entry: Entry) {
    let address = Unmanaged.passUnretained(entry).toOpaque()
    let count = lock.withLock { () -> Int in
      let count = counts[address] ?? 0
      counts[address] = count > 1 ? count - 1 : nil
      if count == 1 { entry.setBlocked(false) }
      return count
    }
    if count == 1 { swift_unownedRelease(address) }
    entry.requireBlock(count)
  }

  /// Runs `body` while no entry is blocked or unblocked. No user code may run inside.
  func withoutChanges<R>(_ body: () -> R) -> R { lock.withLock(body) }

  /// Forgets the blocks of an entry that was removed.
  func forget(_ address: UnsafeMutableRawPointer) {
    let count = lock.withLock { counts.removeValue(forKey: address) }
    if count != nil { swift_unownedRelease(address) }
  }

  /// Inside the lock.
  ///
  /// - Returns: the addresses of the forgotten entries, to be released outside.
  private func forgetRemoved() -> [UnsafeMutableRawPointer] {
    guard counts.count > limit else { return [] }
    let removed = counts.keys.filter { !Self.isActive($0) }
    for address in removed { counts[address] = nil }
    limit = max(16, 2 * counts.count)
    return removed
  }

  private static func isActive(_ entry: UnsafeMutableRawPointer) -> Bool {
    // SAFETY: the unowned reference of the table, or the caller, keeps the memory of the entry, and
    // nothing deinitialises a head.
    let head = (entry + Entry.headOffset).assumingMemoryBound(to: EntryHead.self)
    // Acquiring: pairs with the thread that removed the entry.
    return EntryHead.isActive(head.pointee.state.load(ordering: .acquiring))
  }
}
