import MulticastTestSupport
import Synchronization
import Testing

@testable import Multicast

@Suite("WeakReference")
struct WeakReferenceTests {
  private let tracker = LifetimeTracker()

  @Test("it promotes while the object lives, and owns nothing")
  func promotesWhileTheObjectLives() {
    var object: RecordingObserver? = RecordingObserver(tracker: tracker)
    let reference = WeakReference(object!)
    #expect(reference.address == Int(bitPattern: Unmanaged.passUnretained(object!).toOpaque()))
    #expect(!reference.isDead)
    #expect(!reference.isStale)
    let promoted = reference.promote()
    object = nil
    #expect(tracker.live == 1, "what was promoted is retained")
    promoted?.release()
    #expect(tracker.live == 0, "the reference itself retains nothing")
    #expect(reference.promote() == nil)
    #expect(reference.isDead)
    reference.destroy()
  }

  @Test("it fits into a word and back")
  func fitsIntoAWord() {
    let object = RecordingObserver()
    let word = WeakReference(object).word
    let promoted = WeakReference(word: word).promote()
    #expect(promoted?.takeRetainedValue() === object)
    WeakReference(word: word).destroy()
  }

  @Test("it gives nil from the moment the deinit has begun")
  func nilFromTheBeginningOfTheDeinit() {
    let word = Holder<Int>(nil)
    let wasNil = Atomic<Bool>(false)
    let check: @Sendable () -> Void = {
      let reference = WeakReference(word: UnsafeMutableRawPointer(bitPattern: word.value!)!)
      wasNil.store(reference.promote() == nil && reference.isDead, ordering: .relaxed)
    }
    withExtendedLifetime(ActingObserver(onDeinit: { check() })) { object in
      word.value = Int(bitPattern: WeakReference(object).word)
    }
    let result = wasNil.load(ordering: .relaxed)
    #expect(result)
    WeakReference(word: UnsafeMutableRawPointer(bitPattern: word.value!)!).destroy()
  }

  @Test("several references to one object are independent")
  func severalReferences() {
    var object: RecordingObserver? = RecordingObserver(tracker: tracker)
    let references = (0..<10).map { _ in WeakReference(object!) }
    for reference in references[..<5] { reference.destroy() }
    #expect(references[5...].allSatisfy { !$0.isDead })
    object = nil
    #expect(tracker.live == 0)
    #expect(references[5...].allSatisfy { $0.isDead })
    for reference in references[5...] { reference.destroy() }
  }

  @Test("no other object is taken for the dead one")
  func noOtherObjectIsTakenForTheDeadOne() {
    var object: RecordingObserver? = RecordingObserver()
    let reference = WeakReference(object!)
    let address = reference.address
    object = nil
    let others = (0..<1_000).map { RecordingObserver($0) }
    #expect(reference.promote() == nil)
    let reused = others.contains { Entry.identity(of: $0) == address }
    // The native form keeps the memory of the dead object; the portable one knows that it does not.
    #expect(!reused || reference.isStale)
    #if !canImport(ObjectiveC) && !MULTICAST_PORTABLE_WEAK
      #expect(!reused)
    #endif
    reference.destroy()
  }

  @Test("promotion on two threads while a third drops the last reference")
  func promotionAgainstTheLastRelease() {
    let tracker = tracker
    let outcomes = race(
      rounds: 3_000,
      setUp: { () -> Promotions in Promotions(RecordingObserver(tracker: tracker)) },
      actors: [
        { $0.object = nil },
        { $0.promote(0) },
        { $0.promote(1) },
      ],
      outcome: { _ in true })
    #expect(outcomes == [true: 3_000])
    #expect(tracker.created == 3_000)
    #expect(tracker.live == 0)
  }
}

/// The object of one round, and a reference to it.
private final class Promotions: @unchecked Sendable {
  // Sendable: `object` is changed by one thread alone.
  var object: RecordingObserver?
  private let reference: WeakReference

  init(_ object: RecordingObserver) {
    self.object = object
    reference = WeakReference(object)
  }

  deinit {
    reference.destroy()
  }

  func promote(_ index: Int) {
    for _ in 0..<3 {
      guard let promoted = reference.promote() else { return }
      // It traps if the object is gone.
      (promoted.takeUnretainedValue() as? RecordingObserver)?.receive(index)
      promoted.release()
    }
  }
}
