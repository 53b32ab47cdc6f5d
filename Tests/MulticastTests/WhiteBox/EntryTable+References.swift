@testable import Multicast

extension EntryTable {
  /// As in the library, for a caller that keeps its own reference.
  mutating func insert(
    _ entry: Entry, duplicates: DuplicatePolicy, mayGrow: Bool
  ) -> Insertion {
    let retained = Unmanaged.passRetained(entry)
    let insertion = insert(retained, duplicates: duplicates, mayGrow: mayGrow)
    switch insertion {
    case .added, .replaced: break
    case .exists, .full: retained.release()
    }
    return insertion
  }

  /// Likewise.
  mutating func exchange(_ existing: Entry, for entry: Entry) -> Entry? {
    let retained = Unmanaged.passRetained(entry)
    let old = exchange(existing, for: retained)
    if old == nil { retained.release() }
    return old
  }
}
