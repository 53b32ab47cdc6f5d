public import Synchronization

/// What a sender checks besides the topic: whether the hub has finished, is blocked or retains, and
/// whether it has subscribers of all topics or of patterns. One load tells that nothing is so.
///
/// ## Thread safety
/// Every operation may be called from any thread.
@usableFromInline
final class TopicGate: Completion, @unchecked Sendable {
  // Sendable: the word is atomic.

  /// The lowest bit: the hub has finished. Bits 1 to 30: the number of its blocks. Bit 31: it
  /// retains. From bit 32: the number of subscribers of all topics and of patterns, each counted
  /// before it is added and until it was removed.
  // Sequentially consistent unless stated otherwise: see `TopicHub.finish`. For blocks and for the
  // number of subscribers releasing would be enough; they are rare.
  @usableFromInline let word: Atomic<Int>

  private static var finished: Int { 1 }
  private static var block: Int { 2 }
  private static var retaining: Int { 1 << 31 }
  private static var subscriber: Int { 1 << 32 }

  /// - Parameter retains: whether every sender passes its events through a log.
  init(retains: Bool) {
    word = Atomic(retains ? Self.retaining : 0)
    super.init()
  }

  /// Whether a sender must do no more than to send to the topic.
  @inlinable @inline(__always)
  var isPlain: Bool {
    // Relaxed: a sender that finds that it is not so loads the word again. A thread that knows that
    // `finish` or `allTopics.subscribe` has returned reads `false` all the same.
    word.load(ordering: .relaxed) == 0
  }

  /// Whether the hub has finished.
  @usableFromInline
  var isFinished: Bool { word.load(ordering: .sequentiallyConsistent) & Self.finished != 0 }

  /// Whether events are skipped.
  var isBlocked: Bool {
    // Acquiring: a sender that skips an event sees what was done before the block.
    Self.blocks(word.load(ordering: .acquiring)) > 0
  }

  private static func blocks(_ word: Int) -> Int { (word & (retaining - 1)) / block }

  func block() {
    word.wrappingAdd(Self.block, ordering: .sequentiallyConsistent)
  }

  func unblock() {
    let old = word.wrappingSubtract(Self.block, ordering: .sequentiallyConsistent).oldValue
    Entry.requireBlock(Self.blocks(old))
  }

  /// Whether there are subscribers of all topics or of patterns.
  @inlinable
  var hasSubscribersOfAllTopics: Bool {
    word.load(ordering: .acquiring) >> 32 != 0  // Acquiring: likewise.
  }

  /// Records that the hub has finished.
  override func publish() {
    word.bitwiseOr(Self.finished, ordering: .sequentiallyConsistent)
  }

  /// Counts subscribers of all topics or of patterns that will be added, or were removed if
  /// negative.
  func addSubscribersOfAllTopics(_ difference: Int) {
    word.wrappingAdd(difference * Self.subscriber, ordering: .sequentiallyConsistent)
  }
}
