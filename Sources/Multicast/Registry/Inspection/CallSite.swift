/// The line of a program that made a registration or a subscription.
///
/// ## Thread safety
/// A value: any thread may use its copy.
public struct CallSite: Sendable, Hashable, Codable, CustomStringConvertible {
  /// The module and the file, as `#fileID` names them.
  public let fileID: String

  /// The line in the file, from 1; 0 if it is above 16,383.
  public let line: Int

  /// Creates a call site, for tests of code that receives one.
  ///
  /// - Parameters:
  ///   - fileID: the module and the file.
  ///   - line: the line.
  public init(fileID: String, line: Int) {
    self.fileID = fileID
    self.line = line
  }

  /// The file and the line, as `App/Board.swift:12`.
  public var description: String { "\(fileID):\(line)" }
}
