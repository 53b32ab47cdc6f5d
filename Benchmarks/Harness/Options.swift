/// The command line.
struct Options {
  var workloads: [String] = []
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
  let message: String
}

extension Options {
  /// - Throws: an ``OptionError`` with one line for the user.
  init(_ arguments: some Sequence<String>) throws(OptionError) {
    var rest = Array(arguments)[...]
    while let option = rest.popFirst() {
      switch option {
      case "--workload": workloads += try Self.value(of: option, &rest).commaSeparated
      case "--strategy", "--system": systems += try Self.value(of: option, &rest).commaSeparated
      case "--sizes": sizes = try Self.numbers(of: option, &rest)
      case "--threads": threads = try Self.numbers(of: option, &rest)
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
  }

  /// What `--help` prints below the line that names the program.
  static let help = """
      --workload NAME    only this workload, or a part of it: invocation or invocation/weak/forEach
      --strategy NAME    only this system; the baseline is measured too. --system is the same
      --sizes N,N        numbers of delegates
      --threads N,N      numbers of threads
      --quick            fewer and shorter samples
      --check            measure again what missed its limit, twice; exit with 1 if it misses it
                         each time
      --json FILE        write every row with its samples, and the verdicts, as JSON
      --csv FILE         write every row as comma-separated values
      --iterations N     run one case N times without measuring it, for instruction counters; needs
                         --workload, one --strategy, and --sizes or --threads if there are several
      --list             print the workloads and their experiments
      --help             print this

    Options that take several values take them separated by commas, or are given several times.
    """

  private static func value(
    of option: String, _ rest: inout ArraySlice<String>
  ) throws(OptionError) -> String {
    guard let value = rest.popFirst(), !value.hasPrefix("--"), !value.isEmpty else {
      throw OptionError(message: "\(option) needs a value")
    }
    return value
  }

  private static func numbers(
    of option: String, _ rest: inout ArraySlice<String>
  ) throws(OptionError) -> [Int] {
    var numbers: [Int] = []
    for text in try value(of: option, &rest).commaSeparated {
      numbers.append(try number(text, option))
    }
    return numbers
  }

  private static func number(_ text: String, _ option: String) throws(OptionError) -> Int {
    guard let number = Int(text), (1...1_000_000_000).contains(number) else {
      throw OptionError(message: "\(option): '\(text)' is not a number from 1 to 1000000000")
    }
    return number
  }
}

extension String {
  fileprivate var commaSeparated: [String] {
    split(separator: ",").map(String.init)
  }
}
