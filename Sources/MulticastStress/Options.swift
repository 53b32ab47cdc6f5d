import Foundation
import Multicast

/// What the command line asks for.
struct Options: Equatable {
  var seconds = 10.0
  var threads = 2 * ProcessInfo.processInfo.activeProcessorCount
  var delegates = 16
  var mix = OperationMix.standard
  /// In the order of the list, without repetitions.
  var scenarios: [String] = []
  var strategies: [StorageStrategy] = []
  /// A new one if the command line does not say.
  var seed = UInt64.random(in: 1...UInt64(Int64.max))
  /// How many rounds each scenario has to do on each strategy, whatever the time.
  var rounds: Int?
  var stall = 60.0
  var jsonPath: String?
  var wantsList = false
  var wantsHelp = false
}

/// A command line that cannot be followed: one line for the user.
struct OptionError: Error {
  let message: String
}

extension Options {
  /// Reads the arguments, which do not include the name of the program.
  init(_ arguments: [String]) throws(OptionError) {
    self.init()
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      // Both `--name value` and `--name=value`.
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = parts.first.map(String.init) ?? ""
      let attached = parts.count > 1 ? String(parts[1]) : nil
      switch name {
      case "--help" where attached == nil, "-h" where attached == nil: wantsHelp = true
      case "--list" where attached == nil: wantsList = true
      default: try set(name, to: attached, &rest)
      }
    }
  }

  private mutating func set(
    _ name: String, to attached: String?, _ rest: inout ArraySlice<String>
  ) throws(OptionError) {
    guard Self.names.contains(name) else {
      throw OptionError(message: "unknown option '\(name)'; --help lists them")
    }
    guard let value = attached ?? rest.popFirst(), !value.isEmpty else {
      throw OptionError(message: "\(name) needs a value")
    }
    switch name {
    case "--seconds": seconds = try Self.duration(value, of: name)
    case "--stall": stall = try Self.duration(value, of: name)
    case "--threads": threads = try Self.number(value, of: name, in: 1...256)
    case "--delegates": delegates = try Self.number(value, of: name, in: 1...100_000)
    case "--rounds": rounds = try Self.number(value, of: name, in: 1...1_000_000_000)
    case "--seed": seed = UInt64(try Self.number(value, of: name, in: 0...Int.max))
    case "--json": jsonPath = value
    case "--mix":
      guard let mix = OperationMix(value) else {
        throw OptionError(
          message: "--mix: '\(value)' is not four numbers add:remove:invoke:release, of which "
            + "add and invoke are at least 1")
      }
      self.mix = mix
    case "--scenario":
      scenarios = try Self.choices(scenarios, value, from: Scenarios.all.map { $0.name }, name)
    default:
      strategies = try Self.choices(
        strategies.map(\.rawValue), value, from: StorageStrategy.allCases.map(\.rawValue), name
      ).compactMap(StorageStrategy.init)
    }
  }

  private static let names: Set = [
    "--seconds", "--stall", "--threads", "--delegates", "--rounds", "--seed", "--json", "--mix",
    "--scenario", "--strategy",
  ]

  private static func number(
    _ text: String, of name: String, in range: ClosedRange<Int>
  ) throws(OptionError) -> Int {
    guard let number = Int(text), range.contains(number) else {
      throw OptionError(
        message: "\(name): '\(text)' is not a number from \(range.lowerBound) to "
          + "\(range.upperBound)")
    }
    return number
  }

  private static func duration(_ text: String, of name: String) throws(OptionError) -> Double {
    guard let seconds = Double(text), seconds > 0, seconds <= 1_000_000 else {
      throw OptionError(
        message: "\(name): '\(text)' is not a number of seconds above 0 and up to 1000000")
    }
    return seconds
  }

  /// Those of `known` that were chosen before or are in `text`, separated by commas.
  private static func choices(
    _ chosen: [String], _ text: String, from known: [String], _ name: String
  ) throws(OptionError) -> [String] {
    let named = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    for choice in named where !known.contains(choice) {
      throw OptionError(
        message: "\(name): '\(choice)' is none of \(known.joined(separator: ", "))")
    }
    return known.filter { chosen.contains($0) || named.contains($0) }
  }
}
