internal import Synchronization

/// A subclass that conforms to a further protocol.
public final class ReportingObserver: RecordingObserver, Reporting, @unchecked Sendable {
  // Sendable: as for the superclass.
  private let reported = Atomic<Int>(0)

  /// The number of reports.
  public var reports: Int { reported.load(ordering: .sequentiallyConsistent) }

  public func report(_ value: Int) {
    reported.add(1, ordering: .sequentiallyConsistent)
  }
}
