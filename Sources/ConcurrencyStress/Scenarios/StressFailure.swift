/// What a test of this kit found wrong; its description is the whole report.
public struct StressFailure: Error, CustomStringConvertible {
  public let description: String

  /// - Parameter description: the whole report.
  public init(_ description: String) {
    self.description = description
  }
}
