extension PatternIndex {
  /// What was unlinked, for the reclaimer.
  private final class Garbage {
    var objects: [AnyObject] = []
  }

  /// The target with these patterns, with one user more; if there is none, the one that `make`
  /// returns.
  ///
  /// - Complexity: amortised O(tokens of `patterns`) on average, if it makes one; otherwise
  ///   O(`patterns`).
  func acquire(_ patterns: Set<TopicPattern>, orInsert make: () -> PatternTarget) -> PatternTarget {
    if let target = lock.withLock({ acquireExisting(patterns) }) { return target }
    let new = make()
    return change { garbage in
      if let target = acquireExisting(patterns) { return target }
      new.users = 1
      targets[patterns] = new
      for pattern in patterns { add(pattern, new, garbage) }
      if !patterns.isEmpty { entrance.store(root) }
      return new
    }
  }

  /// Each time the number of targets has doubled: all of them, to remove subscribers whose owners
  /// are gone. The caller then calls ``endPruning()``.
  func beginPruning() -> [PatternTarget]? {
    lock.withLock {
      guard targets.count >= pruneLimit else { return nil }
      pruneLimit = .max
      return Array(targets.values)
    }
  }

  func endPruning() {
    lock.withLock { pruneLimit = max(64, 2 * targets.count) }
  }

  /// Counts users of a target that were added, or removed if negative. Without users it is removed.
  ///
  /// - Complexity: amortised O(tokens of its patterns), if it is removed; otherwise O(1).
  func change(_ target: PatternTarget, by difference: Int) {
    change { garbage in
      target.users += difference
      // It may have been removed already, if a removal was counted before the addition.
      guard target.users == 0, targets[target.patterns] === target else { return }
      targets[target.patterns] = nil
      for membership in target.memberships { unlink(membership, garbage) }
      garbage.objects.append(target)
      if patternCount == 0 { entrance.store(nil) }
    }
  }

  /// The number of patterns.
  var count: Int { lock.withLock { patternCount } }

  /// All targets.
  var all: [PatternTarget] { lock.withLock { Array(targets.values) } }

  /// The targets that have `pattern`, alone or among several.
  func targets(with pattern: TopicPattern) -> [PatternTarget] {
    lock.withLock {
      guard let (node, isRest) = node(of: pattern) else { return [] }
      var found: [PatternTarget] = []
      var next = (isRest ? node.rest.current : node.exact.current)
      while let membership = next {
        // SAFETY: the index keeps the target of a linked membership.
        found.append(membership.target.takeUnretainedValue())
        next = membership.next.current
      }
      return found
    }
  }

  /// Runs `body` inside the lock, and retires what it unlinked.
  private func change<R>(_ body: (Garbage) -> R) -> R {
    let garbage = Garbage()
    let result = lock.withLock { body(garbage) }
    if !garbage.objects.isEmpty { reclaimer.retire(garbage, of: structure) }
    return result
  }

  private func acquireExisting(_ patterns: Set<TopicPattern>) -> PatternTarget? {
    guard let target = targets[patterns] else { return nil }
    target.users += 1
    return target
  }

  /// Adds a membership of `target`, and the nodes that it needs.
  private func add(_ pattern: TopicPattern, _ target: PatternTarget, _ garbage: Garbage) {
    var text = pattern.description
    var (node, isRest) = (root, false)
    text.withUTF8 { bytes in
      var tokens = TopicTokens(bytes)
      while let token = tokens.next() {
        if token.isRest {
          isRest = true
        } else {
          node = token.isStar ? addStar(to: node) : addChild(TokenKey(token), to: node, garbage)
        }
      }
    }
    let membership = PatternMembership(node, isRest: isRest, target)
    target.memberships.append(membership)
    let first = isRest ? node.rest.current : node.exact.current
    membership.next.store(first)
    first?.previous = membership
    if first == nil {
      node.uses += 1
      patternCount += 1
    }
    setFirst(membership, like: membership)
  }

  private func addStar(to parent: PatternNode) -> PatternNode {
    if let node = parent.star.current { return node }
    lastID += 1
    let node = PatternNode(lastID, parent, nil)
    parent.uses += 1
    parent.star.store(node)
    return node
  }

  private func addChild(
    _ key: TokenKey, to parent: PatternNode, _ garbage: Garbage
  ) -> PatternNode {
    // SAFETY: a node in the slots lives: only a thread with the lock removes it.
    if let node = ownSlots.child(of: parent.id, key) { return node.takeUnretainedValue() }
    lastID += 1
    let node = PatternNode(lastID, parent, key)
    parent.uses += 1
    if ownSlots.isFull { replaceSlots(garbage) }
    ownSlots.insert(node)
    nodeCount += 1
    return node
  }

  /// Makes new slots, as many as the nodes need.
  private func replaceSlots(_ garbage: Garbage) {
    garbage.objects.append(ownSlots)
    ownSlots = PatternSlots(ownSlots.nodes, mark: mark)
    slots.store(ownSlots)
  }

  /// Removes a membership, and the nodes that no other needs. It keeps them until it is freed.
  private func unlink(_ membership: PatternMembership, _ garbage: Garbage) {
    let next = membership.next.current
    next?.previous = membership.previous
    if let previous = membership.previous {
      previous.next.store(next)
    } else {
      setFirst(next, like: membership)
      if next == nil {
        patternCount -= 1
        removeUse(of: membership.node)
      }
    }
    garbage.objects.append(membership)
    if ownSlots.capacity > 64 && 32 * nodeCount < ownSlots.capacity { replaceSlots(garbage) }
  }

  /// Makes `membership` the first one of the list that has, or will have, `other`.
  private func setFirst(_ membership: PatternMembership?, like other: PatternMembership) {
    if other.isRest {
      other.node.rest.store(membership)
    } else {
      other.node.exact.store(membership)
    }
  }

  private func removeUse(of node: PatternNode) {
    var node = node
    node.uses -= 1
    while node.uses == 0, let parent = node.parent {
      if node.isStar {
        parent.star.store(nil)
      } else {
        ownSlots.remove(node)
        nodeCount -= 1
      }
      parent.uses -= 1
      node = parent
    }
  }

  /// The node of a pattern, if that has subscribers, and whether it is the list `rest` of that
  /// node.
  private func node(of pattern: TopicPattern) -> (PatternNode, isRest: Bool)? {
    var text = pattern.description
    return text.withUTF8 { bytes in
      var (tokens, node) = (TopicTokens(bytes), root)
      while let token = tokens.next() {
        if token.isRest { return (node, true) }
        // SAFETY: as in `addChild`.
        let child =
          token.isStar
          ? node.star.current
          : ownSlots.child(of: node.id, TokenKey(token))?.takeUnretainedValue()
        guard let child else { return nil }
        node = child
      }
      return (node, false)
    }
  }
}
