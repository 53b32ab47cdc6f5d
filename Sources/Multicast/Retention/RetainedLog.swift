/// The events that a hub keeps, in the order of their numbers. It has no lock and runs no user
/// code.
///
/// ```
///   trimmedThrough │ slot │ slot │ hole │ slot │ next number
///                    ▲                      ▲
///                  oldest                 newest
/// ```
/// Events leave at the front, when they exceed a limit, and in the middle, when a newer event has
/// the same key. A hole that this leaves is not reported as missed. While the numbers of the slots
/// are consecutive, only the newest is stored; otherwise, because holes were removed or the events
/// of several logs share their numbers, each slot has its number beside it.
///
/// Every input that removes events adds them to a ``Garbage`` that the caller destroys outside its
/// critical section.
struct RetainedLog: ~Copyable {
  /// Events that were removed.
  struct Garbage {
    // One event is the usual case, and needs no array.
    private var first: Envelope?
    private var others: [Envelope] = []

    mutating func add(_ envelope: Envelope?) {
      guard let envelope else { return }
      if first == nil { first = envelope } else { others.append(envelope) }
    }
  }

  private let maxCount: Int
  private let maxBytes: Int
  /// Whether each event has a size.
  private let countsBytes: Bool
  private let hasOtherLimits: Bool
  /// An envelope; `nil`: a hole. If bytes are counted, the event is in a box, and the word of the
  /// envelope is its size: so a slot is 16 bytes.
  private(set) var slots: TightRingBuffer<Envelope?>
  /// The number of each slot, if they are not consecutive; otherwise empty.
  private var numbers = TightRingBuffer<UInt64>()
  /// The number of the last event that has left at the front.
  private(set) var trimmedThrough: UInt64
  /// The number of the newest event.
  private(set) var newestNumber: UInt64
  private var holes = 0
  /// The sizes of all events together.
  private(set) var bytes = 0
  /// `nil`: the age is not limited.
  private var periods: AgePeriods?

  /// - Parameters:
  ///   - count: the most events.
  ///   - bytes: the most bytes.
  ///   - age: the age up to which events are kept.
  ///   - isMeasured: whether events have sizes although the bytes are not limited.
  ///   - number: that of the last event that is not in the log.
  init(
    count: Int, bytes: Int = .max, age: Duration? = nil, isMeasured: Bool = false,
    after number: UInt64 = 0
  ) {
    maxCount = count
    maxBytes = bytes
    periods = age.map { AgePeriods($0) }
    countsBytes = bytes < .max || isMeasured
    hasOtherLimits = countsBytes || age != nil
    trimmedThrough = number
    newestNumber = number
    slots = TightRingBuffer(expected: count)
  }

  /// The number of events.
  var count: Int { slots.count - holes }
}

// MARK: - Appending

extension RetainedLog {
  /// Appends an event.
  ///
  /// - Parameters:
  ///   - envelope: with a box if bytes are counted.
  ///   - number: higher than all before; `nil`: the next one.
  ///   - size: its size, if the bytes are limited.
  ///   - now: the time, if the age is limited.
  mutating func append(
    _ envelope: Envelope, number: UInt64? = nil, size: Int, now: Duration,
    _ garbage: inout Garbage
  ) {
    if isRotating, (number ?? newestNumber + 1) == newestNumber + 1 {
      garbage.add(slots.rotate(envelope))
      newestNumber += 1
      trimmedThrough = newestNumber - UInt64(maxCount)
      return
    }
    // First: so the memory is that of the most events, and not of one more.
    let number = number ?? newestNumber + 1
    trim(now: now, &garbage)
    while count >= maxCount { trimOldest(&garbage) }
    var slot = envelope
    if countsBytes {
      guard size <= maxBytes else { return skip(envelope, number, &garbage) }
      while bytes > maxBytes - size { trimOldest(&garbage) }
      bytes += size
      slot = Envelope(envelope.box, word: UInt64(size))
    }
    if numbers.isEmpty, !slots.isEmpty, number != newestNumber + 1 { storeNumbers() }
    newestNumber = number
    slots.append(slot)
    if !numbers.isEmpty { numbers.append(newestNumber) }
    periods?.add(newestNumber, now: now)
  }

  /// Whether the next event takes the slot of the oldest one: only the number of events is limited,
  /// as many are there, and there was never a hole.
  private var isRotating: Bool {
    slots.count == maxCount && slots.capacity == maxCount && !hasOtherLimits && holes == 0
      && numbers.isEmpty
  }

  /// Numbers an event that is too large, which leaves at once with those before it.
  private mutating func skip(
    _ envelope: Envelope, _ number: UInt64, _ garbage: inout Garbage
  ) {
    while !slots.isEmpty { trimOldest(&garbage) }
    newestNumber = number
    trimmedThrough = newestNumber
    garbage.add(envelope)
  }

  /// Removes events that are too old.
  mutating func trim(now: Duration, _ garbage: inout Garbage) {
    while let number = periods?.popOld(now: now) { trim(through: number, &garbage) }
  }

  /// Removes the events up to `number`.
  mutating func trim(through number: UInt64, _ garbage: inout Garbage) {
    while !slots.isEmpty, self.number(at: 0) <= number { trimOldest(&garbage) }
  }

  /// Removes one event, because a newer one has replaced it, if it is still there.
  mutating func replace(_ number: UInt64, _ garbage: inout Garbage) {
    let offset = offset(after: number &- 1)
    guard offset < slots.count, self.number(at: offset) == number,
      let envelope = slots[offset]
    else { return }
    garbage.add(envelope)
    forgetSize(of: envelope)
    slots[offset] = nil
    holes += 1
    popHoles()
    if holes > 64, holes > slots.count / 2 { removeHoles() }
  }

  /// Removes the first event, because it exceeds a limit.
  private mutating func trimOldest(_ garbage: inout Garbage) {
    trimmedThrough = number(at: 0)
    if let envelope = popSlot() {
      forgetSize(of: envelope)
      garbage.add(envelope)
    }
    if holes > 0 { popHoles() }
  }

  private mutating func forgetSize(of envelope: Envelope) {
    if countsBytes { bytes -= Int(envelope.word) }
  }

  /// Restores that the first slot has an event.
  private mutating func popHoles() {
    while !slots.isEmpty, slots[0] == nil {
      _ = popSlot()
      holes -= 1
    }
  }

  private mutating func popSlot() -> Envelope? {
    if !numbers.isEmpty { _ = numbers.popFirst() }
    return slots.popFirst()!
  }

  /// Stores the numbers of consecutive slots, because the next one does not follow.
  private mutating func storeNumbers() {
    var stored = TightRingBuffer<UInt64>()
    for offset in 0..<slots.count { stored.append(number(at: offset)) }
    swap(&numbers, &stored)
  }

  private mutating func removeHoles() {
    var filled = TightRingBuffer<Envelope?>(expected: maxCount)
    var filledNumbers = TightRingBuffer<UInt64>()
    var offset = 0
    while offset < slots.count {
      if let envelope = slots[offset] {
        filled.append(envelope)
        filledNumbers.append(number(at: offset))
      }
      offset += 1
    }
    // Each event is in both, so none is destroyed here.
    swap(&slots, &filled)
    swap(&numbers, &filledNumbers)
    holes = 0
  }

  private func number(at offset: Int) -> UInt64 {
    if !numbers.isEmpty { return numbers[offset] }
    return newestNumber - UInt64(slots.count - 1 - offset)
  }
}

// MARK: - Reading

extension RetainedLog {
  typealias Item = RetainedItem

  /// The oldest event.
  ///
  /// - Complexity: O(1).
  var oldest: Item? { item(at: 0) }

  /// The newest event.
  ///
  /// - Complexity: O(1).
  var newest: Item? { slots.isEmpty ? nil : item(at: slots.count - 1) }

  /// The newest event, unless it is too old at the time `now`.
  ///
  /// - Complexity: O(1). It removes nothing.
  func newest(at now: Duration?) -> Item? {
    if let now, periods?.areOld(now: now) == true { return nil }
    return newest
  }

  /// The number after which the newest `count` events begin.
  ///
  /// - Complexity: O(1), and O(`count` + holes) if there are holes.
  func number(beforeLast count: Int) -> UInt64 {
    guard count < self.count else { return slots.isEmpty ? newestNumber : number(at: 0) - 1 }
    var offset = slots.count
    var rest = count
    while rest > 0 {
      offset -= 1
      if slots[offset] != nil { rest -= 1 }
    }
    return offset == slots.count ? newestNumber : number(at: offset) - 1
  }

  /// Appends the events after `number` to `items`, in order.
  ///
  /// - Parameters:
  ///   - number: not before what was trimmed.
  ///   - limit: the most events to append.
  /// - Returns: the number after which to read on.
  /// - Complexity: O(log events) if there were holes, and O(`limit`) amortised.
  func read(
    after number: UInt64, atMost limit: Int, into items: inout RingBuffer<Item>
  ) -> UInt64 {
    forEach(after: number, atMost: limit) { items.append($0) }
  }

  /// Calls `body` with the events after `number`, in order; see ``read(after:atMost:into:)``.
  @inline(__always)
  func forEach(after number: UInt64, atMost limit: Int, _ body: (Item) -> Void) -> UInt64 {
    var offset = offset(after: number)
    var rest = limit
    while offset < slots.count, rest > 0 {
      if let item = item(at: offset) {
        body(item)
        rest -= 1
      }
      offset += 1
    }
    return offset == slots.count ? max(number, newestNumber) : self.number(at: offset - 1)
  }

  /// The number of events after `number`, in a log without holes.
  ///
  /// - Complexity: O(log events).
  func count(after number: UInt64) -> Int { slots.count - offset(after: number) }

  /// Whether more than `count` events are after `number`.
  ///
  /// - Complexity: O(log events), and O(`count` + holes) if there are holes.
  func hasMore(than count: Int, after number: UInt64) -> Bool {
    var offset = offset(after: number)
    guard holes > 0 else { return slots.count - offset > count }
    var rest = count
    while offset < slots.count {
      if slots[offset] != nil {
        if rest == 0 { return true }
        rest -= 1
      }
      offset += 1
    }
    return false
  }

  /// The event with this number, if it is here.
  func envelope(_ number: UInt64) -> Envelope? {
    let offset = offset(after: number - 1)
    guard offset < slots.count, self.number(at: offset) == number else { return nil }
    return slots[offset]
  }

  private func item(at offset: Int) -> Item? {
    guard offset < slots.count, let envelope = slots[offset] else { return nil }
    return Item(number: number(at: offset), envelope: envelope)
  }

  /// The offset of the first slot with a higher number.
  private func offset(after number: UInt64) -> Int {
    guard !numbers.isEmpty else {
      // The numbers of consecutive slots begin after this one.
      let before = newestNumber - UInt64(slots.count)
      return number <= before ? 0 : min(slots.count, Int(clamping: number - before))
    }
    var low = 0
    var high = numbers.count
    while low < high {
      let middle = (low + high) / 2
      if numbers[middle] > number { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

/// An event, and its number.
@usableFromInline
struct RetainedItem {
  @usableFromInline let number: UInt64
  @usableFromInline let envelope: Envelope
}
