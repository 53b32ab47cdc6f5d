/// The command line.
struct Options {
  var workloads: [String] = []
  /// What `--strategy` named, each time: a system, or several with commas.
  var systems: [String] = []
  var sizes: [Int]?
  var threads: [Int]?
  var isQuick = false
  var jsonPath: String?
  var csvPath: String?
  var iterations: Int?
  var checks = false
  var lists = false
  var asksForHelp = false
}

/// An unusable command line.
struct OptionError: Error {
  /// One line for the user.
  let message: String

  /// - Parameter message: control characters, also those of another line, are replaced.
  init(message: String) {
    var scalars = String.UnicodeScalarView()
    for scalar in message.unicodeScalars {
      scalars.append(scalar.properties.generalCategory == .control ? "\u{FFFD}" : scalar)
    }
    self.message = String(scalars)
  }
}

extension CommandLine {
  /// The arguments, without the name of the program.
  ///
  /// - Throws: an ``OptionError`` if one is not UTF-8. `arguments` has other bytes in place of the
  ///   wrong ones: the program would write another file.
  static func validArguments() throws(OptionError) -> [String] {
    for (index, argument) in arguments.enumerated() {
      // SAFETY: `unsafeArgv` has a string for each argument, which nothing changes.
      guard let bytes = unsafeArgv[index], String(validatingCString: bytes) != nil else {
        throw OptionError(message: "the argument '\(argument)' is not UTF-8")
      }
    }
    return Array(arguments.dropFirst())
  }
}

extension Options {
  /// - Throws: an ``OptionError`` with one line for the user.
  init(_ arguments: some Sequence<String>) throws(OptionError) {
    var rest = Array(arguments)[...]
    while let argument = rest.popFirst() {
      // Both `--name value` and `--name=value`.
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let option = parts.first.map(String.init) ?? ""
      if parts.count > 1 {
        guard Self.valueOptions.contains(option) else {
          throw OptionError(message: "unknown option '\(argument)'; --help lists them")
        }
        rest = [String(parts[1])] + rest
      }
      switch option {
      case "--workload": workloads += try Self.values(of: option, &rest)
      case "--strategy", "--system": systems.append(try Self.list(of: option, &rest))
      case "--sizes": sizes = try (sizes ?? []) + Self.numbers(of: option, &rest)
      case "--threads":
        threads = try (threads ?? []) + Self.numbers(of: option, &rest, upTo: 256)
      case "--iterations": iterations = try Self.number(Self.value(of: option, &rest), option)
      case "--json": jsonPath = try Self.value(of: option, &rest)
      case "--csv": csvPath = try Self.value(of: option, &rest)
      case "--quick": isQuick = true
      case "--check": checks = true
      case "--list": lists = true
      case "--help", "-h": asksForHelp = true
      default: throw OptionError(message: "unknown option '\(option)'; --help lists them")
      }
    }
    if iterations != nil, checks || jsonPath != nil || csvPath != nil {
      throw OptionError(message: "--iterations measures nothing for --check, --json or --csv")
    }
  }

  /// What `--help` prints below the line that names the program.
  static let help = """
      --workload NAME    only this workload, or a part of it: invocation or invocation/weak/forEach
      --strategy NAME    only this system; the baseline is measured too. --system is the same
      --sizes N,N        numbers of delegates
      --threads N,N      numbers of threads, up to 256
      --quick            fewer and shorter samples
      --check            measure again what missed its limit, twice; exit with 1 if it misses it
                         each time
      --json FILE        write every row with its samples, and the verdicts, as JSON
      --csv FILE         write every row as comma-separated values
      --iterations N     run one case N times without measuring it, for instruction counters; needs
                         --workload, one --strategy, and --sizes or --threads if there are several
      --list             print the workloads and their experiments
      -h, --help         print this

    Options that take several values take them separated by commas, or are given several times; a
    system whose name has a comma, alone.

    Exit status: 0 if all went well, 2 if the options are unusable, 1 otherwise.
    """

  /// The options that need a value.
  private static let valueOptions: Set = [
    "--workload", "--strategy", "--system", "--sizes", "--threads", "--iterations", "--json",
    "--csv",
  ]

  private static func value(
    of option: String, _ rest: inout ArraySlice<String>
  ) throws(OptionError) -> String {
    guard let value = rest.popFirst(), !value.hasPrefix("--"), !value.isEmpty else {
      throw OptionError(message: "\(option) needs a value")
    }
    return value
  }

  /// A value with commas, of which something is left without them.
  private static func list(
    of option: String, _ rest: inout ArraySlice<String>
  ) throws(OptionError) -> String {
    let value = try value(of: option, &rest)
    guard !value.commaSeparated.isEmpty else {
      throw OptionError(message: "\(option) needs a value")
    }
    return value
  }

  private static func values(
    of option: String, _ rest: inout ArraySlice<String>
  ) throws(OptionError) -> [String] {
    try list(of: option, &rest).commaSeparated
  }

  private static func numbers(
    of option: String, _ rest: inout ArraySlice<String>, upTo limit: Int = 1_000_000_000
  ) throws(OptionError) -> [Int] {
    var numbers: [Int] = []
    for text in try values(of: option, &rest) {
      numbers.append(try number(text, option, upTo: limit))
    }
    return numbers
  }

  private static func number(
    _ text: String, _ option: String, upTo limit: Int = 1_000_000_000
  ) throws(OptionError) -> Int {
    guard let number = Int(text), (1...limit).contains(number) else {
      throw OptionError(message: "\(option): '\(text)' is not a number from 1 to \(limit)")
    }
    return number
  }
}

extension Options {
  /// The systems that were named. The name of a system may have a comma, too.
  ///
  /// - Throws: an ``OptionError`` if one of them is not in `known`.
  func systems(among known: Set<String>) throws(OptionError) -> [String] {
    let named = systems.flatMap { known.contains($0) ? [$0] : $0.commaSeparated }
    for system in named where !known.contains(system) {
      let names = known.sorted().map { "'\($0)'" }.joined(separator: ", ")
      throw OptionError(message: "no system '\(system)' here, only \(names)")
    }
    return named
  }
}

extension String {
  fileprivate var commaSeparated: [String] {
    split(separator: ",").map(String.init)
  }
}
