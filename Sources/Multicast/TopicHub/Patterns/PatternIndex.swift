// The patterns that have subscribers: a tree of tokens that senders search without a lock.
//
//     root ──star──▶ PatternNode ──rest──▶ PatternMembership ──next──▶ PatternMembership
//       ·                                     │ target
//       · child, found in PatternSlots        ▼
//       ▼                                  PatternTarget
//     PatternNode ──exact──▶ PatternMembership ──▶ …
//
// A node is a sequence of tokens. The child of a node for a token is found in one hash table for
// all nodes, by the number of the node and the token; the child for the wildcard `*` is linked. A
// pattern is a list of memberships: that of its last node, or the list `rest` of the node before a
// last `>`.
//
// A reader goes from token to token of a topic with the set of nodes that the tokens so far lead
// to. So it reads each token once, and each node at most once. These nodes are the beginnings of
// patterns that match the beginning of the topic: one for most sets of patterns, and never more
// than twice as many for one more token.
//
// Writers hold a lock. What a reader has found stays alive until its read section of `reclaimer`
// ends: a membership that a writer unlinks is retired there, and keeps its node, which keeps its
// ancestors. Numbers of nodes are not used again, so a reader that goes on from a node that was
// removed finds none of its successor's children.

/// Finds the subscribers whose patterns match a topic.
///
/// ## Thread safety
/// Every operation may be called from any thread, but changes never inside a critical section.
final class PatternIndex: @unchecked Sendable {
  // Sendable: everything that changes is a link, or is accessed inside `lock` alone.

  /// The root, unless there are no patterns.
  let entrance = PatternLink<PatternNode>()
  let slots: PatternLink<PatternSlots>
  let reclaimer = Reclaimer()

  /// Guards everything that follows, and the writing to links. No user code runs inside.
  let lock = Lock()
  let root = PatternNode(0, nil, nil)
  /// In slots whose node was removed.
  let mark = PatternNode(-1, nil, nil)
  var ownSlots: PatternSlots
  var targets: [Set<TopicPattern>: PatternTarget] = [:]
  /// The number of nodes that were ever added.
  var lastID = 0
  /// The number of nodes in `ownSlots`.
  var nodeCount = 0
  /// The number of patterns.
  var patternCount = 0
  /// The number of targets at which subscribers whose owners are gone are removed; `.max` while a
  /// thread does that.
  var pruneLimit = 64

  init() {
    ownSlots = PatternSlots([], mark: mark)
    slots = PatternLink(ownSlots)
  }
}

// MARK: - Reading

extension PatternIndex {
  /// The subjects of targets.
  typealias Matches = SmallList<Unmanaged<AnyObject>>
  private typealias Nodes = SmallList<Unmanaged<PatternNode>>

  /// Whether there are no patterns.
  var isEmpty: Bool { entrance.load() == nil }

  /// Passes the subjects of the targets that have a pattern which matches `topic` to `body`, each
  /// once, and returns its result. They stay alive until `body` returns.
  ///
  /// - Complexity: O(tokens of `topic`) on average, if a bounded number of patterns begins with
  ///   what matches the beginning of the topic, and O(targets). No allocation, if these numbers are
  ///   small.
  func withMatches(of topic: String, _ body: (inout Matches) -> Int) -> Int {
    withUnsafeTemporaryAllocation(of: Unmanaged<AnyObject>.self, capacity: 16) { memory in
      reclaimer.withReadSection(structure) {
        var matches = Matches(memory)
        find(topic, &matches)
        return body(&matches)
      }
    }
  }

  /// See `Reclaimer.Structure`.
  var structure: UnsafeRawPointer {
    UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
  }

  /// Adds the targets that match `topic`, inside a read section.
  private func find(_ topic: String, _ matches: inout Matches) {
    var topic = topic
    topic.withUTF8 { bytes in
      withUnsafeTemporaryAllocation(of: Unmanaged<PatternNode>.self, capacity: 32) { memory in
        var nodes = Nodes(.init(rebasing: memory[..<16]))
        var children = Nodes(.init(rebasing: memory[16...]))
        find(TopicTokens(bytes), &nodes, &children, &matches)
      }
    }
    if matches.count > 1 && matches.flag { removeDuplicates(from: &matches) }
  }

  private func find(
    _ tokens: TopicTokens, _ nodes: inout Nodes, _ children: inout Nodes, _ matches: inout Matches
  ) {
    // SAFETY: the read section keeps the root, the slots and the nodes alive.
    guard let root = entrance.load(), let slots = slots.load() else { return }
    var tokens = tokens
    nodes.append(root)
    while let token = tokens.next() {
      if token.isEmpty { return matches.removeAll() }
      children.removeAll()
      let key = TokenKey(token)
      for index in 0..<nodes.count {
        nodes[index]._withUnsafeGuaranteedRef { node in
          add(node.rest, to: &matches)
          if let child = slots._withUnsafeGuaranteedRef({ $0.child(of: node.id, key) }) {
            children.append(child)
          }
          if let child = node.star.load() { children.append(child) }
        }
      }
      if children.count == 0 {
        // Nothing else can match; what has matched must not have an empty token.
        if matches.count > 0 && tokens.hasEmptyToken() { matches.removeAll() }
        return
      }
      swap(&nodes, &children)
    }
    for index in 0..<nodes.count {
      nodes[index]._withUnsafeGuaranteedRef { add($0.exact, to: &matches) }
    }
  }

  /// Adds the targets of a list of memberships.
  private func add(_ list: borrowing PatternLink<PatternMembership>, to matches: inout Matches) {
    var next = list.load()
    // SAFETY: the read section keeps the memberships alive, also those that were unlinked since.
    while let membership = next {
      membership._withUnsafeGuaranteedRef {
        matches.append($0.subject)
        if $0.isOneOfSeveral { matches.flag = true }
        next = $0.next.load()
      }
    }
  }

  /// Removes all but one of equal targets: a target with several patterns may match by several.
  private func removeDuplicates(from matches: inout Matches) {
    var found: Set<UnsafeRawPointer> = []
    var kept = 0
    for index in 0..<matches.count {
      let target = matches[index]
      guard found.insert(target.toOpaque()).inserted else { continue }
      matches[kept] = target
      kept += 1
    }
    matches.truncate(to: kept)
  }
}
