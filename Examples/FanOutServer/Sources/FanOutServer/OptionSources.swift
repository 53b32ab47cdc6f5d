internal import ArgumentParser
internal import FoundationEssentials

/// Options from environment variables and from a configuration file, as arguments.
///
/// The command line has precedence over the environment, the environment over the file, and the
/// file over the default. A list has its elements from one of them.
struct OptionSources {
  /// An option of the program.
  private struct Known {
    enum Kind { case value, flag, list }

    var name: String
    var kind: Kind

    /// The name of its environment variable.
    var variable: String { "FANOUT_" + name.uppercased().replacing("-", with: "_") }
  }

  /// The arguments of the command line, after those from the other sources.
  private(set) var arguments: [String]
  /// Environment variables that look like options, but are none. Not an error: Kubernetes sets such
  /// variables for a service of this name.
  private(set) var unknownVariables: [String] = []
  /// The name of the variable or file of each option that is not from the command line.
  private var origins: [String: String] = [:]
  private let commandLine: [String]

  /// - Parameter arguments: the command line without the program.
  init(
    _ arguments: [String], environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws {
    commandLine = arguments
    self.arguments = arguments
    guard !["--help", "-h", "--version"].contains(where: arguments.contains) else { return }
    try refusePasswords()
    try refuseEmptyFlags()
    try take(environment)
  }
}

extension OptionSources {
  /// Adds to an error where the option that it names first has its value from.
  func explain(_ message: some StringProtocol) -> String {
    let found = origins.compactMap { name, origin -> (place: String.Index, origin: String)? in
      guard let range = message.firstRange(of: "--\(name)"),
        message[range.upperBound...].first.map({ !$0.isLetter && $0 != "-" }) ?? true
      else { return nil }
      return (range.lowerBound, origin)
    }
    guard let first = found.min(by: { $0.place < $1.place }) else { return String(message) }
    return "\(message) (from \(first.origin))"
  }

  /// Refuses an address with a user or a password on the command line.
  private func refusePasswords() throws {
    var rest = commandLine[...]
    while let argument = rest.popFirst() {
      let value =
        argument == "--relay" ? rest.first : argument.hasPrefix("--relay=") ? argument : nil
      guard value?.contains("@") == true else { continue }
      throw ValidationError(
        "--relay: the process list would show the password: use --relay-credentials, or set the "
          + "address with FANOUT_RELAY or --config")
    }
  }

  /// Refuses `--flag=`, which the parser takes for `--flag`. It refuses other values itself.
  private func refuseEmptyFlags() throws {
    let names = Self.options.filter { $0.kind == .flag }.flatMap { [$0.name, "no-\($0.name)"] }
    for name in names + ["health"] where commandLine.contains("--\(name)=") {
      throw ValidationError(
        "--\(name): the option takes no value, and '--\(name)=' has an empty one")
    }
  }

  private mutating func take(_ environment: [String: String]) throws {
    let options = Self.options
    // An empty variable is as none.
    let variables = environment.filter { !$0.value.isEmpty && !Self.isOfKubernetes($0) }
    let path = pathOnCommandLine ?? variables["FANOUT_CONFIG"]
    if pathOnCommandLine == nil, path != nil { origins["config"] = "FANOUT_CONFIG" }
    let file: ConfigurationFile?
    do {
      file = try path.map { try ConfigurationFile($0, options.map(\.name)) }
    } catch let error as ValidationError {
      throw ValidationError(explain(error.message))
    }
    var added: [String] = []
    for option in options where !isOnCommandLine(option.name) {
      let values: [String]
      if let text = variables[option.variable] {
        values = option.kind == .list ? text.split(separator: ",").map(String.init) : [text]
        origins[option.name] = option.variable
      } else if let found = file?.values[option.name] {
        values = found
        origins[option.name] = path
      } else {
        continue
      }
      added += try arguments(of: option, values)
    }
    arguments = added + commandLine
    let known = Set(options.map(\.variable) + ["FANOUT_CONFIG"])
    unknownVariables = environment.filter {
      $0.key.hasPrefix("FANOUT_") && (!known.contains($0.key) || Self.isOfKubernetes($0))
    }.keys.sorted()
  }

  /// Whether Kubernetes has set a variable that has the name of an option: it sets `FANOUT_PORT` to
  /// an address such as `tcp://10.0.0.1:8080`.
  private static func isOfKubernetes(_ variable: (key: String, value: String)) -> Bool {
    variable.key == "FANOUT_PORT"
      && ["tcp://", "udp://", "sctp://"].contains { variable.value.hasPrefix($0) }
  }

  private func arguments(of option: Known, _ values: [String]) throws -> [String] {
    guard option.kind == .list || values.count == 1 else {
      throw ValidationError(explain("--\(option.name): the option takes one value"))
    }
    guard option.kind == .flag else { return values.map { "--\(option.name)=\($0)" } }
    switch values.first?.lowercased() {
    case "true", "yes", "1": return ["--\(option.name)"]
    case "false", "no", "0": return ["--no-\(option.name)"]
    default:
      throw ValidationError(explain("--\(option.name): the value is neither true nor false"))
    }
  }

  private func isOnCommandLine(_ name: String) -> Bool {
    commandLine.contains { argument in
      argument == "--\(name)" || argument.hasPrefix("--\(name)=") || argument == "--no-\(name)"
    }
  }

  private var pathOnCommandLine: String? {
    var path: String?
    for (index, argument) in commandLine.enumerated() {
      if argument == "--config" { path = commandLine.dropFirst(index + 1).first }
      if argument.hasPrefix("--config=") { path = String(argument.dropFirst("--config=".count)) }
    }
    return path
  }

  /// The options as their declarations name them.
  private static var options: [Known] {
    let groups: [any ParsableArguments] = [
      Options(), TLSOptions(), RelayOptions(), StoreOptions(),
    ]
    return groups.flatMap { Mirror(reflecting: $0).children }.compactMap { label, value in
      guard let label, label != "_config" else { return nil }
      let name = label.dropFirst().reduce(into: "") { name, character in
        name += character.isUppercase ? "-\(character.lowercased())" : String(character)
      }
      return Known(
        name: name, kind: value is Flag<Bool> ? .flag : value is Option<[String]> ? .list : .value)
    }
  }
}
