import MulticastTestSupport
import Testing

@testable import Multicast

@Suite("UnownedReference")
struct UnownedReferenceTests {
  @Test("it keeps the address of a dead object, and not the object")
  func deadObject() {
    let tracker = LifetimeTracker()
    var object: RecordingObserver? = RecordingObserver(tracker: tracker)
    let address = Unmanaged.passUnretained(object!).toOpaque()
    let references = (0..<10).map { _ in UnownedReference(object!) }
    #expect(references.allSatisfy { $0.object === object })
    object = nil
    #expect(tracker.live == 0)
    for reference in references {
      #expect(reference.address == address)
      #expect(reference.object == nil)
      #expect(Mirror(reflecting: reference).children.isEmpty)
    }
    // Its memory is not used again as long as a reference exists.
    let others = (0..<1000).map { _ in RecordingObserver() }
    #expect(others.allSatisfy { Unmanaged.passUnretained($0).toOpaque() != address })
    withExtendedLifetime(references) {}
  }

  @Test("a thread that reads it while the object dies gets a live object or nothing")
  func concurrently() {
    let tracker = LifetimeTracker()
    for _ in 0..<1000 {
      let object = RecordingObserver(tracker: tracker)
      let reference = UnownedReference(object)
      // Released once, by the first thread.
      let owner = Unmanaged.passRetained(consume object)
      runThreads(2) { thread in
        if thread == 0 {
          owner.release()
        } else if let object = reference.object, object.calls != 0 {
          Issue.record("called")
        }
      }
      #expect(reference.object == nil)
    }
    #expect(tracker.live == 0)
  }
}
