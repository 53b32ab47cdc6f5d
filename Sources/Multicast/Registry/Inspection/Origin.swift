internal import Synchronization

/// Where a registration was made, as the function that makes it receives it.
@usableFromInline
struct Origin: Sendable {
  let fileID: StaticString
  let line: UInt
  let label: String?
  /// Measures the calls of the handler or delegate.
  var timer: CallTimer?

  @usableFromInline
  init(_ fileID: StaticString, _ line: UInt, _ label: String? = nil) {
    self.fileID = fileID
    self.line = line
    self.label = label
  }

  /// An origin that is not known.
  static var unknown: Origin { Origin("", 0) }
}

/// What an entry keeps of its ``Origin``, in one word.
///
/// Usually that is the address of the file's name, a literal, and the line: nothing is allocated.
/// With a label, or in a hub that watches for leaks or measures calls, it is a reference to an
/// ``OriginRecord``.
struct OriginWord {
  /// Legal values: 1, unknown; line << 50 | address << 2 | 1, with an address of 48 bits and a line
  /// of 14; address << 2 | 3, of a retained record. So a word is odd: see ``EntryHead``.
  let bits: UInt

  private static var addressLimit: UInt { 1 << 48 }
  private static var lineLimit: UInt { 1 << 14 }

  init(bits: UInt) {
    self.bits = bits
  }

  static var unknown: OriginWord { OriginWord(bits: 1) }

  /// Only the line. The label and the timer are ignored.
  init(siteOf origin: Origin) {
    guard origin.line > 0, origin.fileID.hasPointerRepresentation else {
      self = .unknown
      return
    }
    let address = UInt(bitPattern: origin.fileID.utf8Start)
    let line = origin.line < Self.lineLimit ? origin.line : 0
    bits = address < Self.addressLimit ? line << 50 | address << 2 | 1 : Self.unknown.bits
  }

  /// A word that owns `record`.
  init(retaining record: OriginRecord) {
    bits = UInt(bitPattern: Unmanaged.passRetained(record).toOpaque()) << 2 | 3
  }

  /// The record, if there is one; the owner of the word keeps it.
  var record: OriginRecord? {
    guard bits & 3 == 3, let address = UnsafeRawPointer(bitPattern: bits >> 2) else { return nil }
    // SAFETY: `init(retaining:)` made the word of a record, which its owner releases last.
    return Unmanaged<OriginRecord>.fromOpaque(address).takeUnretainedValue()
  }

  /// Measures the calls, if they are measured; the owner of the word keeps it.
  var timer: Unmanaged<CallTimer>? {
    guard bits & 3 == 3, let address = UnsafeRawPointer(bitPattern: bits >> 2) else { return nil }
    // SAFETY: as above. Unretained, because each call of a delegate asks for it.
    return Unmanaged<OriginRecord>.fromOpaque(address)
      ._withUnsafeGuaranteedRef { $0.timer.map { .passUnretained($0) } }
  }

  /// The bits of the line alone, which are the same for each registration of that line.
  var siteBits: UInt { record?.siteWord.bits ?? bits }

  var site: CallSite? {
    if let record { return record.siteWord.site }
    guard let name = UnsafePointer<CChar>(bitPattern: (bits >> 2) & (Self.addressLimit - 1)) else {
      return nil
    }
    // SAFETY: the address of a literal, which ends with a zero and lives for ever.
    return CallSite(fileID: String(cString: name), line: Int(bits >> 50))
  }

  /// Releases what the word owns.
  func release() {
    guard let record else { return }
    Unmanaged.passUnretained(record).release()
  }
}

/// The origin of a registration of which more than the line is kept.
final class OriginRecord: Sendable {
  /// The line.
  let siteWord: OriginWord
  let label: String?
  /// When the registration was made, in nanoseconds of the monotonic clock.
  let began: UInt64
  /// Counts the registrations of the same line.
  let counter: SiteCounter?
  let timer: CallTimer?
  // Relaxed: one thread uncounts, the one whose exchange finds `true`; it reads nothing through it.
  private let isCounted = Atomic<Bool>(true)

  init(_ origin: Origin, began: UInt64, counter: SiteCounter?) {
    siteWord = OriginWord(siteOf: origin)
    label = origin.label
    self.began = began
    self.counter = counter
    timer = origin.timer
    counter?.add()
  }

  /// A registration that was not added, or was not removed before the end of its hub.
  deinit { uncount() }

  /// The registration has ended.
  func uncount() {
    guard let counter, isCounted.exchange(false, ordering: .relaxed) else { return }
    counter.remove()
  }
}

/// The number of registrations of one line in one hub that have not ended, and of those whose
/// delegate is dead and that were not pruned yet.
final class SiteCounter: Sendable {
  private let limit: Int
  // Relaxed: a statistic, which only decides when to count exactly.
  private let count = Atomic<Int>(0)
  // Relaxed: as above. At least `limit`.
  private let threshold: Atomic<Int>
  // Relaxed: one thread reports, the one whose exchange finds `false`; it reads nothing through it.
  private let isReported = Atomic<Bool>(false)

  init(above limit: Int) {
    self.limit = limit
    threshold = Atomic(limit)
  }

  func add() { count.wrappingAdd(1, ordering: .relaxed) }

  /// Also lowers what ``clear()`` has raised, once much fewer are there. As then, the next check
  /// comes only after a proportional number of registrations.
  func remove() {
    let count = count.wrappingSubtract(1, ordering: .relaxed).newValue
    let threshold = threshold.load(ordering: .relaxed)
    guard threshold > limit, count <= threshold / 2 else { return }
    self.threshold.store(max(limit, count + count / 2), ordering: .relaxed)
  }

  /// Whether to count exactly: there may be too many, and none were reported.
  var isSuspicious: Bool {
    count.load(ordering: .relaxed) > threshold.load(ordering: .relaxed)
      && !isReported.load(ordering: .relaxed)
  }

  /// Not too many have not ended. The next check comes when twice as many are there.
  func clear() {
    threshold.store(max(limit, 2 * count.load(ordering: .relaxed)), ordering: .relaxed)
  }

  /// Whether this is the first call.
  func takeReport() -> Bool { !isReported.exchange(true, ordering: .relaxed) }
}
