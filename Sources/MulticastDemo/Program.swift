import Foundation

/// The program: arguments in, a report and an exit status out.
@main
enum Program {
  static func main() {
    // Writing to a pipe without a reader is an error like any other, not the end of the process.
    signal(SIGPIPE, SIG_IGN)
    do {
      try run(arguments())
    } catch let error as DemoError {
      tell(error.message)
      exit(error.status)
    } catch {
      tell("\(error)")
      exit(1)
    }
  }

  /// The arguments, without the name of the program.
  ///
  /// - Throws: an error if one is not UTF-8. `CommandLine.arguments` has other bytes in place of
  ///   the wrong ones: the program would match another text, or write another file.
  private static func arguments() throws -> [String] {
    for (index, argument) in CommandLine.arguments.enumerated() {
      // SAFETY: `unsafeArgv` has a string for each argument, which nothing changes.
      guard let bytes = CommandLine.unsafeArgv[index], String(validatingCString: bytes) != nil
      else { throw DemoError.usage("the argument '\(argument)' is not UTF-8") }
    }
    return Array(CommandLine.arguments.dropFirst())
  }

  private static func run(_ arguments: [String]) throws {
    let options = try Options(arguments)
    guard !options.wantsHelp else { return try print([Options.help]) }
    try print(Demo(options, printProgress: tell).run())
  }

  /// Prints on standard output. Unlike the function of the library it notices if that fails.
  private static func print(_ lines: [String]) throws {
    var output = OutputFile(descriptor: STDOUT_FILENO, name: "standard output")
    for line in lines { try output.write(line: line.utf8) }
    try output.flush()
  }

  /// Prints one line on standard error.
  @Sendable private static func tell(_ line: String) {
    var output = OutputFile(descriptor: STDERR_FILENO, name: "standard error")
    // An error of standard error cannot be reported.
    try? output.write(line: "multicast-demo: \(line.printable)".utf8)
    try? output.flush()
  }
}
