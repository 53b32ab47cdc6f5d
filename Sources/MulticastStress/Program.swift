import Dispatch
import Foundation

/// The program: arguments in, a report and an exit status out.
@main
enum Program {
  static func main() {
    start(Array(CommandLine.arguments.dropFirst()))
  }

  /// Does what the arguments, which do not include the name of the program, ask for.
  static func start(_ arguments: [String]) {
    // Writing to a pipe without a reader is an error like any other, not the end of the process.
    signal(SIGPIPE, SIG_IGN)
    do {
      let options = try Options(arguments)
      if options.wantsHelp {
        Console.output.print(Options.help)
      } else if options.wantsList {
        for line in Options.list { Console.output.print(line) }
      } else {
        try run(options)
      }
    } catch {
      Console.error.print("multicast-stress: \(error.message)")
      exit(2)
    }
  }

  /// Runs the scenarios on a thread of their own: the main thread serves the main queue, on which
  /// delegates are called.
  private static func run(_ options: Options) throws(OptionError) {
    let file = try options.jsonPath.map { path throws(OptionError) in try ReportFile(path) }
    let run = Run(options)
    let thread = Thread {
      let report = run.perform()
      exit(report.finish(writingTo: file))
    }
    thread.stackSize = 8 << 20
    thread.start()
    dispatchMain()
  }
}
