internal import Synchronization

/// A subclass that can do more than the class.
public final class ReportingObserver: RecordingObserver, Reporting, @unchecked Sendable {
  // Sendable: as for the superclass.
  private let reported = Atomic<Int>(0)

  /// How many reports there were.
  public var reports: Int { reported.load(ordering: .sequentiallyConsistent) }

  public func report(_ value: Int) {
    reported.add(1, ordering: .sequentiallyConsistent)
  }
}
