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

  /// - Parameters:
  ///   - name: with both hyphens, as on the command line.
  ///   - placeholder: what stands for the value in the help.
  ///   - summary: a line of the help.
  ///   - defaultValue: the value without the option.
  ///   - requirement: what a value must be, as in "'x' is not …".
  ///   - format: the text from which `parse` makes the value.
  ///   - parse: the value that a text stands for, or `nil` if it stands for none.
  public init(
    _ name: String, _ placeholder: String, _ summary: String, default defaultValue: Value,
    requirement: String, format: @escaping @Sendable (Value) -> String,
    parse: @escaping @Sendable (String) -> Value?
  ) {
    precondition(
      name.hasPrefix("--") && !name.contains("="), "'\(name)' is no name of an option: write --name"
    )
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
  func value(of text: String) throws(StressOptionError) -> any Sendable
  /// The text that `value(of:)` makes this value from.
  func text(of value: any Sendable) -> String
}

extension StressOption {
  public var defaultText: String { format(defaultValue) }

  public func value(of text: String) throws(StressOptionError) -> any Sendable {
    guard let value = parse(text) else {
      throw StressOptionError("\(name): '\(text)' is not \(requirement)")
    }
    return value
  }

  public func text(of value: any Sendable) -> String {
    (value as? Value).map(format) ?? defaultText
  }
}

/// A command line that cannot be followed: one line for the user.
public struct StressOptionError: Error, CustomStringConvertible {
  /// The line.
  public let message: String

  /// - Parameter message: one line.
  public init(_ message: String) {
    self.message = message
  }

  public var description: String { message }
}
