import Multicast
import MulticastTestSupport

/// A state that depends on the order of its changes.
struct Chain: Sendable, Equatable {
  var count = 0
  var hash: UInt64 = 17

  mutating func append(_ change: Int) {
    count += 1
    hash = (hash ^ UInt64(bitPattern: Int64(change))) &* 0x1_0000_0001_B3
  }
}

typealias ChainHub = StateHub<Chain, Int>
typealias ChainUpdate = StateUpdate<Chain, Int>

func makeChainHub(_ storage: StorageStrategy = .waitFree) -> ChainHub {
  StateHub(Chain(), storage: storage) { $0.append($1) }
}

/// What a subscriber has: each snapshot replaces it, and each change is applied to it.
final class StateCopy: Sendable {
  private struct Content {
    var state: Chain?
    var snapshots = 0
    var changes: [Int] = []
    var strays = 0
  }

  private let content = Guarded(Content())

  func receive(_ update: ChainUpdate) {
    content.withLock { content in
      switch update {
      case .snapshot(let state):
        content.state = state
        content.snapshots += 1
      case .change(let change):
        if content.state == nil { content.strays += 1 }
        content.state?.append(change)
        content.changes.append(change)
      }
    }
  }

  /// `nil` before the first snapshot.
  var state: Chain? { content.withLock { $0.state } }
  var snapshots: Int { content.withLock { $0.snapshots } }
  var changes: [Int] { content.withLock { $0.changes } }
  /// The number of changes before the first snapshot.
  var strays: Int { content.withLock { $0.strays } }
}

actor ActorWithCopy {
  nonisolated let copy = StateCopy()
}
