internal import Foundation

extension StressOptions {
  /// Reads the arguments, which do not include the name of the program.
  ///
  /// - Parameters:
  ///   - arguments: what follows the name of the program.
  ///   - program: says which options there are.
  /// - Throws: ``StressOptionError`` if they cannot be followed.
  public init(_ arguments: [String], for program: StressProgram) throws(StressOptionError) {
    self.init()
    var given: Set<String> = []
    for option in program.options { values[option.name] = try option.value(of: option.defaultText) }
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      // Both `--name value` and `--name=value`.
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = parts.first.map(String.init) ?? ""
      let attached = parts.count > 1 ? String(parts[1]) : nil
      given.insert(name)
      switch name {
      case "--help" where attached == nil, "-h" where attached == nil: wantsHelp = true
      case "--list" where attached == nil: wantsList = true
      case "--help", "-h", "--list": throw StressOptionError("\(name) takes no value")
      default: try set(name, to: attached, &rest, program)
      }
    }
    texts = program.options.map { option in
      (option.name, values[option.name].map(option.text) ?? option.defaultText)
    }
    try checkCombination(given)
  }

  private mutating func set(
    _ name: String, to attached: String?, _ rest: inout ArraySlice<String>, _ program: StressProgram
  ) throws(StressOptionError) {
    let own = program.options.first { $0.name == name }
    let isVariant = program.variants?.option == name
    guard own != nil || isVariant || Self.names.contains(name) else {
      throw StressOptionError("unknown option '\(name)'; --help lists them")
    }
    // A value of the program's own may be empty: the command that repeats a trial has it.
    guard let value = attached ?? rest.popFirst(), own != nil || !value.isEmpty else {
      throw StressOptionError("\(name) needs a value")
    }
    if let own {
      values[name] = try own.value(of: value)
      return
    }
    if isVariant {
      variants = try Self.choices(variants, value, from: program.variants?.names ?? [], name)
      return
    }
    switch name {
    case "--seconds": seconds = try Self.duration(value, of: name)
    case "--stall": stall = try Self.duration(value, of: name)
    case "--hours": hours = try Self.duration(value, of: name, "hours", most: 10_000)
    case "--threads": threads = try Self.number(value, of: name, in: 1...256)
    case "--rounds": rounds = try Self.number(value, of: name, in: 1...1_000_000_000)
    case "--memory": memoryLimit = try Self.number(value, of: name, in: 1...1_000_000)
    case "--seed": seed = UInt64(try Self.number(value, of: name, in: 0...Int.max))
    case "--json": jsonPath = value
    case "--state": statePath = value
    default:
      scenarios = try Self.choices(scenarios, value, from: program.scenarios.map(\.name), name)
    }
  }

  private mutating func checkCombination(_ given: Set<String>) throws(StressOptionError) {
    if statePath != nil && hours == nil {
      throw StressOptionError("--state needs --hours: it is what a run of hours is resumed from")
    }
    guard let hours else { return }
    if rounds != nil { throw StressOptionError("--hours and --rounds exclude each other") }
    if !given.contains("--seconds") { seconds = 600 }
    seconds = min(seconds, hours * 3600)
    memoryLimit = memoryLimit ?? 2048
  }

  /// The options of every program that take a value.
  private static let names: Set = [
    "--seconds", "--stall", "--threads", "--rounds", "--seed", "--json", "--scenario", "--hours",
    "--state", "--memory",
  ]

  /// Whether every program has an option of this name.
  static func isOfEveryProgram(_ name: String) -> Bool {
    names.contains(name) || ["--help", "-h", "--list"].contains(name)
  }

  private static func number(
    _ text: String, of name: String, in range: ClosedRange<Int>
  ) throws(StressOptionError) -> Int {
    guard let number = Int(text), range.contains(number) else {
      throw StressOptionError(
        "\(name): '\(text)' is not a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  private static func duration(
    _ text: String, of name: String, _ unit: String = "seconds", most: Int = 1_000_000
  ) throws(StressOptionError) -> Double {
    guard let value = Double(text), value > 0, value <= Double(most) else {
      throw StressOptionError(
        "\(name): '\(text)' is not a number of \(unit) above 0 and up to \(most)")
    }
    return value
  }

  /// Those of `known` that were chosen before or are in `text`, separated by commas.
  private static func choices(
    _ chosen: [String], _ text: String, from known: [String], _ name: String
  ) throws(StressOptionError) -> [String] {
    // A name may have a comma, too.
    let named =
      known.contains(text)
      ? [text] : text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    for choice in named where !known.contains(choice) {
      throw StressOptionError("\(name): '\(choice)' is none of \(known.joined(separator: ", "))")
    }
    return known.filter { chosen.contains($0) || named.contains($0) }
  }
}
