// What this library relies on and the language does not promise: how the entry points of the Swift
// runtime behave that `CMulticast.h` declares, and what `UnsafeCurrentTask` is.

internal import CMulticast

/// The facts about the runtime on which memory safety rests here, and a check of them.
///
/// The check runs once in a process, when the first hub is made. A runtime that behaves otherwise
/// ends the process with a message, where it would corrupt memory later.
enum RuntimeContract {
  /// Whether the contract holds. It always does: otherwise the process has ended.
  static let holds: Bool = {
    demandNone(of: differences)
    return true
  }()

  /// Ends the process with a message if there are `differences`.
  static func demandNone(of differences: [String]) {
    require(
      differences.isEmpty,
      """
      Multicast: this Swift runtime is not as this version of the library needs it: \
      \(differences.joined(separator: "; ")). Build with -Xswiftc -DMULTICAST_PORTABLE_WEAK, \
      which does without the runtime's entry points, and report it.
      """)
  }

  /// What differs from the contract, in words; empty if nothing does.
  static var differences: [String] {
    var differences: [String] = []
    func expect(_ condition: Bool, _ difference: @autoclosure () -> String) {
      if !condition { differences.append(difference()) }
    }
    expect(
      MemoryLayout<UnsafeCurrentTask>.size == MemoryLayout<UInt>.size,
      "UnsafeCurrentTask has \(MemoryLayout<UnsafeCurrentTask>.size) bytes and is no address")
    #if !canImport(ObjectiveC) && !MULTICAST_PORTABLE_WEAK
      for kind in ObjectKind.allCases { checkLifetime(of: kind, expect) }
      checkImmortalObject(expect)
    #endif
    return differences
  }
}

#if !canImport(ObjectiveC) && !MULTICAST_PORTABLE_WEAK

  extension RuntimeContract {
    private typealias Expectation = (Bool, @autoclosure () -> String) -> Void

    /// How an object keeps its reference counts.
    private enum ObjectKind: String, CaseIterable {
      case plain = "an object"
      /// One that has been weakly referenced.
      case withSideTable = "an object with a side table"
    }

    /// An object that notes its end.
    private final class Probe {
      private let deinits: UnsafeMutablePointer<Int>
      /// What the entry points say of the object when its `deinit` runs.
      private let isDeadInDeinit: UnsafeMutablePointer<Bool>

      init(_ deinits: UnsafeMutablePointer<Int>, _ isDeadInDeinit: UnsafeMutablePointer<Bool>) {
        self.deinits = deinits
        self.isDeadInDeinit = isDeadInDeinit
      }

      deinit {
        deinits.pointee += 1
        let object = Unmanaged.passUnretained(self).toOpaque()
        isDeadInDeinit.pointee = swift_tryRetain(object) == nil && swift_isDeallocating(object)
      }
    }

    /// Follows an object from its birth to its end.
    private static func checkLifetime(of kind: ObjectKind, _ expect: Expectation) {
      var deinits = 0
      var isDeadInDeinit = false
      weak var weakReference: Probe?
      // SAFETY: the pointers are used as long as the closure runs, and the object dies inside it.
      withUnsafeMutablePointer(to: &deinits) { deinits in
        withUnsafeMutablePointer(to: &isDeadInDeinit) { isDeadInDeinit in
          let probe = Unmanaged.passRetained(Probe(deinits, isDeadInDeinit))
          let object = probe.toOpaque()
          if kind == .withSideTable { weakReference = probe._withUnsafeGuaranteedRef { $0 } }
          expect(
            swift_unownedRetain(object) == object,
            "swift_unownedRetain of \(kind.rawValue) does not return it")
          expect(
            !swift_isDeallocating(object), "swift_isDeallocating takes \(kind.rawValue) for dead")
          let retained = swift_tryRetain(object)
          expect(retained == object, "swift_tryRetain of \(kind.rawValue) does not return it")
          if retained != nil { probe.release() }
          expect(deinits.pointee == 0, "swift_tryRetain does not retain \(kind.rawValue)")
          probe.release()
          expect(
            deinits.pointee == 1,
            "the last release of \(kind.rawValue) with an unowned reference does not run its deinit"
          )
          expect(isDeadInDeinit.pointee, "\(kind.rawValue) is not dead while its deinit runs")
          expect(swift_tryRetain(object) == nil, "swift_tryRetain revives \(kind.rawValue)")
          expect(
            swift_isDeallocating(object),
            "swift_isDeallocating does not tell that \(kind.rawValue) is dead")
          expect(weakReference == nil, "a weak reference revives \(kind.rawValue)")
          swift_unownedRelease(object)
        }
      }
    }

    /// The storage of empty arrays is an object that is never counted and never dies.
    private static func checkImmortalObject(_ expect: Expectation) {
      // SAFETY: where every object is a native one, an array is a reference to its storage.
      let storage = unsafeBitCast([] as ContiguousArray<Int>, to: AnyObject.self)
      let object = Unmanaged.passUnretained(storage).toOpaque()
      expect(
        swift_unownedRetain(object) == object,
        "swift_unownedRetain of an immortal object does not return it")
      let retained = swift_tryRetain(object)
      expect(retained == object, "swift_tryRetain of an immortal object does not return it")
      if retained != nil { Unmanaged<AnyObject>.fromOpaque(object).release() }
      swift_unownedRelease(object)
      expect(
        !swift_isDeallocating(object), "swift_isDeallocating takes an immortal object for dead")
    }
  }

#endif
