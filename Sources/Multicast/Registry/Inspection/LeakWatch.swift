internal import CMulticast

/// Counts the registrations of each line of a hub, and warns of too many.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class LeakWatch: @unchecked Sendable {
  // Sendable: `counters` is accessed inside `lock` alone; the rest never changes.

  let limit: Int
  /// Counts the registrations of a line that have not ended, in all registries that are watched;
  /// `nil`: in the one to which a registration was added.
  let countAll: (@Sendable (UInt) -> Int)?
  private let handler: @Sendable (LeakWarning) -> Void
  /// Guards `counters`.
  private let lock = Lock()
  /// By ``OriginWord/siteBits``. One for each line of the program that registers: they are not
  /// removed.
  private var counters: [UInt: SiteCounter] = [:]

  init(
    above limit: Int, countAll: (@Sendable (UInt) -> Int)? = nil, hub: String?,
    _ handler: @escaping @Sendable (LeakWarning) -> Void
  ) {
    require(
      limit > 0,
      "\(messagePrefix(hub)) a limit of \(limit) registrations allows none; use at least 1.")
    self.limit = limit
    self.countAll = countAll
    self.handler = handler
  }

  /// Begins to watch.
  ///
  /// - Precondition: nothing watches yet.
  func install(in reference: borrowing LazyReference<LeakWatch>, hub: String?) {
    if let other = reference.install(self) {
      fatalError(
        "\(messagePrefix(hub)) this hub warns of more than \(other.limit) registrations already; "
          + "call warnOfLeaks once.")
    }
  }

  /// The counter of a line.
  func counter(of site: UInt) -> SiteCounter {
    lock.withLock {
      if let counter = counters[site] { return counter }
      let counter = SiteCounter(above: limit)
      counters[site] = counter
      return counter
    }
  }

  /// Warns once of the line of a registration that was made. Runs user code: call it outside of any
  /// lock.
  ///
  /// - Parameter count: counts the registrations of that line that have not ended.
  func added(_ origin: OriginWord, hub: String?, count: (UInt) -> Int) {
    guard let counter = origin.record?.counter, counter.isSuspicious, let site = origin.site else {
      return
    }
    let exact = count(origin.siteBits)
    guard exact > limit else { return counter.clear() }
    if counter.takeReport() { handler(LeakWarning(hub: hub, site: site, count: exact)) }
  }
}

extension Registry {
  /// What an entry keeps of its origin.
  @inline(__always)
  func word(of origin: Origin) -> OriginWord {
    if !isInspected && origin.label == nil && origin.timer == nil {
      return OriginWord(siteOf: origin)
    }
    return recordedWord(of: origin)
  }

  @inline(never)
  private func recordedWord(of origin: Origin) -> OriginWord {
    let siteWord = OriginWord(siteOf: origin)
    let watch = currentLeakWatch
    if watch == nil && origin.label == nil && origin.timer == nil { return siteWord }
    let counter = watch?.counter(of: siteWord.bits)
    return OriginWord(
      retaining: OriginRecord(
        origin, began: cmulticast_monotonic_nanoseconds(), counter: counter))
  }

  /// Warns of a leak if an entry that was added is one too many. Outside of any lock.
  func warnIfLeaking(_ entry: Entry) {
    guard let watch = currentLeakWatch else { return }
    watch.added(entry.head.pointee.origin, hub: nameInWarnings) { site in
      watch.countAll?(site) ?? count(at: site)
    }
  }

  /// The number of registrations of a line that have not ended.
  ///
  /// - Parameter site: see ``OriginWord/siteBits``.
  func count(at site: UInt) -> Int {
    storage.snapshot().count { entry in
      entry.map { $0.isLive && $0.head.pointee.origin.siteBits == site } ?? false
    }
  }

  /// Begins to watch for leaks.
  func watchForLeaks(above limit: Int, _ handler: @escaping @Sendable (LeakWarning) -> Void) {
    LeakWatch(above: limit, hub: name, handler).install(in: inspectionOrNew().leakWatch, hub: name)
  }
}
