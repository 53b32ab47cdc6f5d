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
    static let bound = Requirement.Bound.atMost(0.5)
  #endif
}
