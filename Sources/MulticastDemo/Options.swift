/// What the command line asks for.
struct Options: Equatable {
  enum Input: Equatable {
    case standardInput
    case file(String)
    case sample(Int)
  }

  /// `nil` if the command line does not say.
  var input: Input?
  var keyField = 1
  var top = 10
  var match: String?
  var output: String?
  var threads = 4
  var wantsHelp = false
}

extension Options {
  /// Reads the arguments, which do not include the name of the program.
  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      // Both `--name value` and `--name=value`.
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0])
      func value() throws -> String {
        guard let value = parts.count > 1 ? String(parts[1]) : rest.popFirst() else {
          throw DemoError.usage("\(name) needs a value")
        }
        guard !value.isEmpty else { throw DemoError.usage("the value of \(name) is empty") }
        return value
      }
      switch name {
      case "--input": try setInput(Self.input(value()))
      case "--sample": try setInput(.sample(Self.number(value(), of: name, in: 0...1_000_000_000)))
      case "--key": keyField = try Self.number(value(), of: name, in: 1...1000)
      case "--top": top = try Self.number(value(), of: name, in: 0...1_000_000)
      case "--match": match = try value()
      case "--output": output = try value()
      case "--threads": threads = try Self.number(value(), of: name, in: 1...64)
      case "--help" where parts.count == 1, "-h" where parts.count == 1: wantsHelp = true
      default: throw DemoError.usage("unknown option '\(argument)'")
      }
    }
    if output != nil && match == nil && !wantsHelp {
      throw DemoError.usage("--output needs --match")
    }
  }

  private mutating func setInput(_ newInput: Input) throws {
    guard input == nil else { throw DemoError.usage("more than one --input or --sample") }
    input = newInput
  }

  private static func input(_ path: String) -> Input {
    path == "-" ? .standardInput : .file(path)
  }

  private static func number(
    _ text: String, of name: String, in range: ClosedRange<Int>
  ) throws -> Int {
    guard let number = Int(text), range.contains(number) else {
      throw DemoError.usage(
        "the value of \(name) is a number from \(range.lowerBound) to \(range.upperBound), not '\(text)'"
      )
    }
    return number
  }
}
