/// An option that one program adds to those of every ``StressProgram``.
///
/// ```swift
/// let listeners = StressOption.number(
///   "--listeners", "the most listeners of a round", default: 16, in: 1...1000)
/// ```
/// A scenario reads it with `trial.options[listeners]`.
///
/// ## Thread safety
/// A value that never changes.
public struct StressOption<Value: Sendable>: AnyStressOption {
  /// With both hyphens, as on the command line.
  public let name: String
  /// What stands for the value in the help.
  public let placeholder: String
  /// A line of the help.
  public let summary: String
  /// The value without the option.
  public let defaultValue: Value
  private let parse: @Sendable (String) -> Value?
  private let requirement: String
  private let format: @Sendable (Value) -> String

  /// Creates an option of a program.
  ///
  /// - Parameters:
  ///   - name: with both hyphens, as on the command line.
  ///   - placeholder: what stands for the value in the help.
  ///   - summary: a line of the help.
  ///   - defaultValue: the value without the option.
  ///   - requirement: what a value must be, as in "'x' is not …".
  ///   - format: the text from which `parse` makes the value.
  ///   - parse: the value that a text stands for, or `nil` if it stands for none.
  /// - Precondition: the name begins with two hyphens, and `parse` takes the text of the default
  ///   value.
  public init(
    _ name: String, _ placeholder: String, _ summary: String, default defaultValue: Value,
    requirement: String, format: @escaping @Sendable (Value) -> String,
    parse: @escaping @Sendable (String) -> Value?
  ) {
    StressOptions.checkName(of: name)
    require(
      parse(format(defaultValue)) != nil,
      "the default value '\(format(defaultValue))' of \(name) is not \(requirement)")
    self.name = name
    self.placeholder = placeholder
    self.summary = summary
    self.defaultValue = defaultValue
    self.requirement = requirement
    self.format = format
    self.parse = parse
  }
}

extension StressOption where Value == Int {
  /// An option whose value is a number in `range`.
  ///
  /// - Parameters:
  ///   - name: with both hyphens, as on the command line.
  ///   - summary: a line of the help.
  ///   - defaultValue: the value without the option.
  ///   - range: the numbers that are allowed.
  /// - Returns: the option.
  /// - Precondition: the name begins with two hyphens, and the default value is in `range`.
  public static func number(
    _ name: String, _ summary: String, default defaultValue: Int, in range: ClosedRange<Int>
  ) -> Self {
    Self(
      name, "N", summary, default: defaultValue,
      requirement: "a number from \(range.lowerBound) to \(range.upperBound)",
      format: { "\($0)" }, parse: { Int($0).flatMap { range.contains($0) ? $0 : nil } })
  }
}

/// A ``StressOption`` of any type.
///
/// ## Thread safety
/// Instances are `Sendable`, and never change.
public protocol AnyStressOption: Sendable {
  /// With both hyphens, as on the command line.
  var name: String { get }
  /// What stands for the value in the help.
  var placeholder: String { get }
  /// A line of the help.
  var summary: String { get }
  /// The text of the value without the option.
  var defaultText: String { get }

  /// The value that a text stands for.
  ///
  /// - Parameter text: what follows the name on the command line.
  /// - Returns: the value.
  /// - Throws: a line for the user, if the text stands for no value.
  func value(of text: String) throws(StressOptionError) -> any Sendable
  /// The text that `value(of:)` makes this value from.
  ///
  /// - Parameter value: a value of this option.
  /// - Returns: the text.
  func text(of value: any Sendable) -> String
}

extension StressOption {
  /// The text of the default value.
  public var defaultText: String { format(defaultValue) }

  /// The value that a text stands for.
  ///
  /// - Parameter text: what follows the name on the command line.
  /// - Returns: the value.
  /// - Throws: a line for the user, if the text stands for no value.
  public func value(of text: String) throws(StressOptionError) -> any Sendable {
    guard let value = parse(text) else {
      throw StressOptionError("\(name): '\(text)' is not \(requirement)")
    }
    return value
  }

  /// The text from which ``value(of:)`` makes this value.
  ///
  /// - Parameter value: a value of this option.
  /// - Returns: the text; that of the default value for a value of another type.
  public func text(of value: any Sendable) -> String {
    (value as? Value).map(format) ?? defaultText
  }
}

/// A command line that cannot be followed: one line for the user.
///
/// ## Thread safety
/// A value: any thread may use its copy.
public struct StressOptionError: Error, CustomStringConvertible {
  /// The line.
  public let message: String

  /// Creates an error with a line for the user.
  ///
  /// - Parameter message: one line. Control characters, also those of another line, are replaced.
  public init(_ message: String) {
    self.message = message.printable
  }

  /// The line.
  public var description: String { message }
}
