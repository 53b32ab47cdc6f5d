internal import BenchmarkHarness

/// How the library was built to hold delegates weakly.
enum WeakForm {
  #if canImport(ObjectiveC) || MULTICAST_PORTABLE_WEAK
    /// Over Swift's own weak references.
    static let isPortable = true
    /// What a weak delivery may cost, as a multiple of the bare loop over weak references.
    static let bound = Requirement.Bound.atMost(1.15)
  #else
    /// Over unowned references and the runtime's try-retain.
    static let isPortable = false
    /// What a weak delivery may cost, likewise.
    ///
    /// Measured: 0.28 – 0.31 on an Intel Xeon, 0.34 – 0.55 on an AMD EPYC, where a locked
    /// instruction costs a third, and the mispredicted calls, which both loops pay, weigh more.
    static let bound = Requirement.Bound.atMost(0.65)
  #endif
}
