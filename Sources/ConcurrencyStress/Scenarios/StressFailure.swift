/// What a test of this kit found wrong; its description is the whole report.
///
/// ## Thread safety
/// A value: any thread may use its copy.
public struct StressFailure: Error, CustomStringConvertible {
  /// The whole report.
  public let description: String

  /// Creates an error with a report.
  ///
  /// - Parameter description: the whole report.
  public init(_ description: String) {
    self.description = description
  }
}
