internal import CMulticast

/// A check of the runtime behaviour that this library needs and the language does not promise: that
/// of the entry points declared in `CMulticast.h`, and the layout of `UnsafeCurrentTask` and
/// `UnownedTaskExecutor`, and the metadata of types.
///
/// The check runs once in a process, when the first registry is created. If the runtime behaves
/// differently, the process ends with a message instead of corrupting memory later.
enum RuntimeContract {
  /// Always true: otherwise the process has ended.
  static let holds: Bool = {
    demandNone(of: differences)
    return true
  }()

  /// Ends the process with a message if there are `differences`.
  static func demandNone(of differences: [String]) {
    require(
      differences.isEmpty,
      """
      Multicast: this Swift runtime does not behave as this version of the library requires: \
      \(differences.joined(separator: "; ")). Report it. Built with -Xswiftc -DMULTICAST_PORTABLE_WEAK \
      the library uses fewer entry points of the runtime.
      """)
  }

  /// Descriptions of all differences from the contract.
  static var differences: [String] {
    var differences: [String] = []
    func expect(_ condition: Bool, _ difference: @autoclosure () -> String) {
      if !condition { differences.append(difference()) }
    }
    expect(
      MemoryLayout<UnsafeCurrentTask>.size == MemoryLayout<UInt>.size,
      "UnsafeCurrentTask has \(MemoryLayout<UnsafeCurrentTask>.size) bytes and is not an address")
    let task = withUnsafeCurrentTask { $0.map { unsafeBitCast($0, to: UInt.self) } ?? 0 }
    expect(
      TaskIdentity.current.rawValue == task,
      "swift_task_getCurrent does not return the current task")
    expect(
      (TaskIdentity.currentNumber != 0) == (task != 0),
      "swift_task_getJobTaskId does not give each task a number")
    expect(
      TaskIdentity.isCurrentCancelled == Task.isCancelled,
      "swift_task_isCancelled does not tell whether a task is cancelled")
    expect(
      canCastTaskExecutors,
      "UnownedTaskExecutor is not the two words of a reference to a TaskExecutor")
    for type in [Any.self, (any Error).self, (any Unbound).self, Int.self, (AnyObject?).self]
      as [Any.Type]
    {
      expect(!StaticType(type).isReference, "the metadata of \(type) is that of a reference")
    }
    expect(
      StaticType((any Bound).self).isReference && StaticType(AnyObject.self).isReference,
      "the metadata of an existential does not tell whether it is bound to classes")
    #if !canImport(ObjectiveC)
      for kind in ObjectKind.allCases { checkLifetime(of: kind, expect) }
      checkImmortalObject(expect)
    #endif
    return differences
  }

  private protocol Bound: AnyObject {}
  private protocol Unbound {}

  private static var canCastTaskExecutors: Bool {
    guard MemoryLayout<UnownedTaskExecutor>.size == MemoryLayout<any TaskExecutor>.size else {
      return false
    }
    let executor = ProbeExecutor()
    return withExtendedLifetime(executor) {
      executor.asUnownedTaskExecutor().existential as AnyObject === executor
    }
  }

  private final class ProbeExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) { globalConcurrentExecutor.enqueue(job) }
  }
}

#if !canImport(ObjectiveC)

  extension RuntimeContract {
    private typealias Expectation = (Bool, @autoclosure () -> String) -> Void

    /// Where the reference counts of an object are.
    private enum ObjectKind: String, CaseIterable {
      case plain = "an object"
      /// An object that has been weakly referenced.
      case withSideTable = "an object with a side table"
    }

    /// An object that records its deinitialisation.
    private final class Probe {
      private let deinits: UnsafeMutablePointer<Int>
      /// Whether the entry points report the object as dead while its `deinit` runs.
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

    /// Checks the entry points during the life of one object and after its end.
    private static func checkLifetime(of kind: ObjectKind, _ expect: Expectation) {
      var deinits = 0
      var isDeadInDeinit = false
      weak var weakReference: Probe?
      // SAFETY: the object, which uses the pointers, dies inside the closure.
      withUnsafeMutablePointer(to: &deinits) { deinits in
        withUnsafeMutablePointer(to: &isDeadInDeinit) { isDeadInDeinit in
          let probe = Unmanaged.passRetained(Probe(deinits, isDeadInDeinit))
          let object = probe.toOpaque()
          if kind == .withSideTable { weakReference = probe._withUnsafeGuaranteedRef { $0 } }
          expect(
            swift_unownedRetain(object) == object,
            "swift_unownedRetain of \(kind.rawValue) does not return it")
          expect(
            !swift_isDeallocating(object), "swift_isDeallocating reports \(kind.rawValue) as dead")
          let retained = swift_tryRetain(object)
          expect(retained == object, "swift_tryRetain of \(kind.rawValue) does not return it")
          if retained != nil { probe.release() }
          expect(deinits.pointee == 0, "swift_tryRetain does not retain \(kind.rawValue)")
          expect(
            swift_retain_n(object, 2) == object,
            "swift_retain_n of \(kind.rawValue) does not return it")
          probe.release()
          probe.release()
          expect(deinits.pointee == 0, "swift_retain_n does not retain \(kind.rawValue) so often")
          probe.release()
          expect(
            deinits.pointee == 1,
            "the last release of \(kind.rawValue) with an unowned reference does not run its deinit"
          )
          expect(isDeadInDeinit.pointee, "\(kind.rawValue) is not dead while its deinit runs")
          expect(swift_tryRetain(object) == nil, "swift_tryRetain revives \(kind.rawValue)")
          expect(
            swift_isDeallocating(object),
            "swift_isDeallocating does not report \(kind.rawValue) as dead")
          expect(weakReference == nil, "a weak reference revives \(kind.rawValue)")
          swift_unownedRelease(object)
        }
      }
    }

    /// Checks the storage of empty arrays, an object without reference counting that never dies.
    private static func checkImmortalObject(_ expect: Expectation) {
      // SAFETY: where every object is native, an array is just a reference to its storage.
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
        !swift_isDeallocating(object), "swift_isDeallocating reports an immortal object as dead")
    }
  }

#endif
