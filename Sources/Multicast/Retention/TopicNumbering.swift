/// What a ``TopicLog`` knows about the numbers of its events beside the events.
///
/// The numbers of a log without an external one begin once, after 0, and have no gaps.
struct TopicNumbering: ~Copyable {
  /// Events that the hub has not received from the external log.
  struct Gap {
    let after: UInt64
    var through: UInt64
    /// Whether the hub was blocked; otherwise the external log does not have them.
    let isOfBlock: Bool
  }

  /// When the mark was set, the external log had no event after this number.
  private struct Refusal {
    let newest: UInt64
    let mark: Int
  }

  /// How often the numbers have begun.
  private(set) var beginnings = 0
  private(set) var epoch: UInt64 = 0
  /// The beginning with which the epoch began: later ones go on with it.
  private(set) var epochBeginning = 0
  /// The number before the first of the epoch.
  private(set) var start: UInt64 = 0
  /// Where the numbers began for the first time.
  private(set) var first = EventPosition(epoch: 0, number: 0)
  /// The newest gaps, in order.
  private(set) var gaps = RingBuffer<Gap>()
  /// The end of the newest gap that is not in `gaps` any more: a reader before it misses everything
  /// up to there.
  private(set) var minimum: UInt64 = 0
  /// The newest refusals, in order.
  private var refusals = RingBuffer<Refusal>()
  /// How often ``addMark()`` was called.
  private(set) var marks = 0
  /// The newest mark of the refusals.
  private var newestRefusedMark = 0

  /// The most gaps and refusals that are kept.
  static var most: Int { 256 }

  /// Numbers that have not begun.
  init() {}

  var hasBegun: Bool { beginnings > 0 }

  mutating func begin(epoch: UInt64, after number: UInt64) {
    if beginnings == 0 { first = EventPosition(epoch: epoch, number: number) }
    beginnings += 1
    if epoch != self.epoch { epochBeginning = beginnings }
    self.epoch = epoch
    start = number
    minimum = 0
    var ended = RingBuffer<Gap>()
    swap(&gaps, &ended)
  }

  /// - Parameter isOfBlock: whether the hub is blocked. Such a gap that begins where another one
  ///   ends belongs to it.
  mutating func addGap(after number: UInt64, through last: UInt64, isOfBlock: Bool) {
    if isOfBlock, let newest = newestGap, newest.isOfBlock, newest.through == number {
      gaps[gaps.count - 1].through = last
      return
    }
    gaps.append(Gap(after: number, through: last, isOfBlock: isOfBlock))
    if gaps.count > Self.most, let oldest = gaps.popFirst() { minimum = oldest.through }
  }

  var newestGap: Gap? { gaps.isEmpty ? nil : gaps[gaps.count - 1] }

  /// The first gap that ends after `number`.
  ///
  /// - Complexity: O(log gaps).
  func firstGap(after number: UInt64) -> Gap? {
    var low = 0
    var high = gaps.count
    while low < high {
      let middle = (low + high) / 2
      if gaps[middle].through > number { high = middle } else { low = middle + 1 }
    }
    return low < gaps.count ? gaps[low] : nil
  }

  /// The last gap that begins before `number`, and is one of a block or not: its part up to
  /// `number`, because that of a block may have grown since.
  ///
  /// - Complexity: O(gaps).
  func lastGap(through number: UInt64, isOfBlock: Bool) -> Gap? {
    var offset = gaps.count
    while offset > 0 {
      offset -= 1
      var gap = gaps[offset]
      guard gap.after < number, gap.isOfBlock == isOfBlock else { continue }
      gap.through = min(gap.through, number)
      return gap
    }
    return nil
  }

  /// - Returns: the mark, which is the number of all so far.
  mutating func addMark() -> Int {
    marks += 1
    return marks
  }

  mutating func addRefusal(after newest: UInt64, namedBefore mark: Int) {
    newestRefusedMark = max(newestRefusedMark, mark)
    // Those that this one includes are not needed any more.
    while !refusals.isEmpty, refusals[refusals.count - 1].mark <= mark,
      refusals[refusals.count - 1].newest >= newest
    {
      _ = refusals.remove(at: refusals.count - 1)
    }
    refusals.append(Refusal(newest: newest, mark: mark))
    if refusals.count > Self.most { _ = refusals.popFirst() }
  }

  /// Whether the position `number` was refused.
  ///
  /// - Parameter claim: the number of marks when the subscriber named it.
  /// - Complexity: O(refusals).
  func refuses(_ number: UInt64, claim: Int) -> Bool {
    for offset in 0..<refusals.count {
      let refusal = refusals[offset]
      if refusal.mark > claim && number > refusal.newest { return true }
    }
    return false
  }

  /// Whether a refusal was for the positions that subscribers named when there were `claim` marks.
  func hasRefusal(ofClaim claim: Int) -> Bool { newestRefusedMark > claim }
}
