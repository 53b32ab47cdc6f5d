/// The elements of a mailbox: a first-in, first-out queue in a circular buffer, with slots of 9
/// bytes, where ``MailboxState/Item`` takes 24.
///
/// A mailbox may have many elements, which one thread writes and another one reads, so what costs
/// is the memory: less is copied when the buffer grows, and moved from one processor to another.
///
///     words   event │ object │ event │ …    8 bytes each: the object or the word of an envelope
///     marks     0   │  0x80  │   3   │ …    1 byte each: which of them, and how many were dropped
///
/// A number of dropped elements that a mark cannot count is in an object of its own, or, before the
/// first element, in the buffer itself. The word beside the object of an envelope is not kept: no
/// event is in it.
///
/// A buffer that never had an element has no memory. It cannot be copied, so no access has to check
/// whether its memory is shared.
struct ItemBuffer: ~Copyable {
  typealias Item = MailboxState.Item

  // SAFETY, of all access: exactly the `count` slots from `head` on, modulo `slotCount`, are
  // initialised, and the buffer owns their objects.

  /// `slotCount` words, and behind them as many marks; `nil`: no slots.
  private var words: UnsafeMutablePointer<UInt64>?
  /// A power of two, or zero.
  private var slotCount = 0
  /// The slot of the first element.
  private var head = 0
  private(set) var count = 0
  /// The number of elements dropped before the first one, beside those that its slot counts. It
  /// grows with each event if the oldest are dropped.
  private var droppedBeforeFirst = 0

  init() {}

  deinit {
    for offset in 0..<count { Self.destroy(words.unsafelyUnwrapped[slot(offset)], mark(offset)) }
    words?.deallocate()
  }

  var isEmpty: Bool { count == 0 }

  /// - Complexity: amortised O(1).
  @inline(__always)
  mutating func append(_ item: consuming Item) {
    let dropped = item.dropped
    append(taking: item.element.intoReference(), dropped: dropped)
  }

  /// - Parameter element: the buffer takes one retain of it.
  /// - Complexity: amortised O(1).
  @inline(__always)
  mutating func append(taking element: EnvelopeReference, dropped: Int) {
    if count == slotCount { resize(to: max(1, slotCount &* 2)) }
    store(element, dropped, at: slot(count))
    count &+= 1
  }

  /// - Complexity: amortised O(1).
  @inline(__always)
  mutating func popFirst() -> Item? {
    guard count > 0 else { return nil }
    var item = Self.take(words.unsafelyUnwrapped[head], marks[head])
    item.dropped += droppedBeforeFirst
    droppedBeforeFirst = 0
    head = (head + 1) & (slotCount - 1)
    count -= 1
    if isMostlyEmpty { resize(to: slotCount / 2) }
    return item
  }

  /// Moves the first `share` elements to the end of `other`.
  ///
  /// - Complexity: amortised O(`share`), and O(1) if `other` is empty and `share` is the number of
  ///   elements.
  mutating func moveFirst(_ share: Int, to other: inout ItemBuffer) {
    if share == count && other.isEmpty { return swap(&self, &other) }
    precondition(share <= count, "\(share) of \(count) elements")
    guard share > 0 else { return }
    if other.isEmpty {
      other.droppedBeforeFirst = droppedBeforeFirst
    } else if droppedBeforeFirst > 0 {
      self[0].dropped += 0  // From now on the slot counts them all.
    }
    droppedBeforeFirst = 0
    for _ in 0..<share {
      if other.count == other.slotCount { other.resize(to: max(1, other.slotCount * 2)) }
      let (from, to) = (head, other.slot(other.count))
      other.words.unsafelyUnwrapped[to] = words.unsafelyUnwrapped[from]
      other.marks[to] = marks[from]
      other.count += 1
      head = (head + 1) & (slotCount - 1)
    }
    count -= share
    if isMostlyEmpty { shrink() }
  }

  /// Counts elements as dropped before the first one, of which there is one.
  mutating func addDroppedBeforeFirst(_ dropped: Int) { droppedBeforeFirst += dropped }

  /// The number of elements dropped before the first one, returned once; 0 if there is none.
  mutating func takeDroppedBeforeFirst() -> Int {
    guard count > 0 else { return 0 }
    defer { droppedBeforeFirst = 0 }
    guard marks[head] & ~Self.objectBit > 0 else { return droppedBeforeFirst }
    let dropped = self[0].dropped
    self[0].dropped = 0
    return dropped
  }

  /// Replaces the element at `offset`, and counts it as dropped before the new one.
  ///
  /// - Returns: the old element.
  mutating func replaceElement(at offset: Int, by element: consuming Envelope) -> Envelope {
    precondition(offset >= 0 && offset < count, "offset \(offset) of \(count) elements")
    let slot = slot(offset)
    let (word, mark) = (words.unsafelyUnwrapped[slot], marks[slot])
    if let counted = Self.counted(word, mark) {
      return counted._withUnsafeGuaranteedRef { $0.replaceElement(by: element) }
    }
    let old = Self.take(word, mark)
    store(element.intoReference(), old.dropped + 1, at: slot)
    return old.element
  }

  /// The element at `offset` from the front.
  subscript(offset: Int) -> Item {
    get {
      precondition(offset >= 0 && offset < count, "offset \(offset) of \(count) elements")
      var item = Self.copy(words.unsafelyUnwrapped[slot(offset)], mark(offset))
      if offset == 0 { item.dropped += droppedBeforeFirst }
      return item
    }
    set {
      precondition(offset >= 0 && offset < count, "offset \(offset) of \(count) elements")
      if offset == 0 { droppedBeforeFirst = 0 }
      let old = (words.unsafelyUnwrapped[slot(offset)], mark(offset))
      store(newValue.element.intoReference(), newValue.dropped, at: slot(offset))
      Self.destroy(old.0, old.1)
    }
  }

  /// The slot of the element at `offset`, or the free one behind the elements.
  @inline(__always)
  private func slot(_ offset: Int) -> Int { (head + offset) & (slotCount - 1) }

  @inline(__always)
  private var marks: UnsafeMutablePointer<UInt8> {
    // SAFETY: `resize` bound the memory behind the words.
    UnsafeMutableRawPointer(words.unsafelyUnwrapped + slotCount).assumingMemoryBound(to: UInt8.self)
  }

  private func mark(_ offset: Int) -> UInt8 { marks[slot(offset)] }

  /// A buffer with at most 64 slots does not shrink.
  @inline(__always)
  private var isMostlyEmpty: Bool { slotCount > 64 && count < slotCount / 8 }

  /// Frees slots until the buffer is not mostly empty.
  @inline(never)
  private mutating func shrink() {
    var newCount = slotCount
    while newCount > 64 && count < newCount / 8 { newCount /= 2 }
    resize(to: newCount)
  }

  /// Moves the elements to `newCount` slots, a power of two that is at least `count`.
  @inline(never)
  private mutating func resize(to newCount: Int) {
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: newCount * (MemoryLayout<UInt64>.stride + 1),
      alignment: MemoryLayout<UInt64>.alignment)
    let resized = memory.bindMemory(to: UInt64.self, capacity: newCount)
    let resizedMarks = (memory + newCount * MemoryLayout<UInt64>.stride).bindMemory(
      to: UInt8.self, capacity: newCount)
    // The elements are at most two runs: up to the last slot, and from the first one on.
    let first = min(count, slotCount - head)
    if let words {
      resized.update(from: words + head, count: first)
      (resized + first).update(from: words, count: count - first)
      resizedMarks.update(from: marks + head, count: first)
      (resizedMarks + first).update(from: marks, count: count - first)
      words.deallocate()
    }
    words = resized
    slotCount = newCount
    head = 0
  }
}

extension ItemBuffer: @unchecked Sendable {
  // Sendable: a value, which owns its memory, and envelopes are Sendable.
}

// MARK: - Slots

/// An element with more dropped ones before it than a mark counts.
private final class CountedItem {
  private(set) var item: MailboxState.Item

  init(_ item: MailboxState.Item) {
    self.item = item
  }

  /// Replaces the element, and counts it as dropped.
  func replaceElement(by element: Envelope) -> Envelope {
    let old = item.element
    item.element = element
    item.dropped += 1
    return old
  }
}

extension ItemBuffer {
  // A mark is the number of dropped elements, and `objectBit` if the word is an object that the
  // slot owns. If the number is `manyDropped`, the object is a `CountedItem`.
  private static var objectBit: UInt8 { 0x80 }
  private static var manyDropped: Int { 0x7f }

  @inline(__always)
  private func store(_ element: EnvelopeReference, _ dropped: Int, at slot: Int) {
    if _slowPath(dropped >= Self.manyDropped) { return storeCounted(element, dropped, at: slot) }
    let mark = UInt8(truncatingIfNeeded: dropped)
    if let object = element.object {
      words.unsafelyUnwrapped[slot] = Self.word(object.toOpaque())
      marks[slot] = mark | Self.objectBit
    } else {
      words.unsafelyUnwrapped[slot] = element.word
      marks[slot] = mark
    }
  }

  @inline(never)
  private func storeCounted(_ element: EnvelopeReference, _ dropped: Int, at slot: Int) {
    let item = Item(element: Envelope(taking: element), dropped: dropped)
    words.unsafelyUnwrapped[slot] = Self.word(Unmanaged.passRetained(CountedItem(item)).toOpaque())
    marks[slot] = Self.objectBit | UInt8(Self.manyDropped)
  }

  /// The element of a slot, which does not own it any more.
  @inline(__always)
  private static func take(_ word: UInt64, _ mark: UInt8) -> Item {
    if mark & objectBit == 0 { return Item(element: Envelope(word: word), dropped: Int(mark)) }
    if let counted = counted(word, mark) { return counted.takeRetainedValue().item }
    let reference = EnvelopeReference(object: .fromOpaque(pointer(word)), word: 0)
    return Item(element: Envelope(taking: reference), dropped: Int(mark & ~objectBit))
  }

  /// The object of an element with many dropped ones before it.
  @inline(__always)
  private static func counted(_ word: UInt64, _ mark: UInt8) -> Unmanaged<CountedItem>? {
    guard _slowPath(mark == objectBit | UInt8(manyDropped)) else { return nil }
    return .fromOpaque(pointer(word))
  }

  /// The element of a slot.
  private static func copy(_ word: UInt64, _ mark: UInt8) -> Item {
    if mark & objectBit != 0 { _ = Unmanaged<AnyObject>.fromOpaque(pointer(word)).retain() }
    return take(word, mark)
  }

  @inline(__always)
  private static func destroy(_ word: UInt64, _ mark: UInt8) {
    if mark & objectBit != 0 { Unmanaged<AnyObject>.fromOpaque(pointer(word)).release() }
  }

  @inline(__always)
  private static func word(_ pointer: UnsafeMutableRawPointer) -> UInt64 {
    UInt64(UInt(bitPattern: pointer))
  }

  @inline(__always)
  private static func pointer(_ word: UInt64) -> UnsafeMutableRawPointer {
    // SAFETY: `store` made the word, of a pointer.
    UnsafeMutableRawPointer(bitPattern: UInt(word)).unsafelyUnwrapped
  }
}
