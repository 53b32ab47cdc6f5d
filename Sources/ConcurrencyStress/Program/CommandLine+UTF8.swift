extension CommandLine {
  /// The arguments, without the name of the program.
  ///
  /// - Throws: ``StressOptionError`` if one is not UTF-8. `arguments` has other bytes in place of
  ///   the wrong ones: the program would write another file.
  static func validArguments() throws(StressOptionError) -> [String] {
    for (index, argument) in arguments.enumerated() {
      // SAFETY: `unsafeArgv` has a string for each argument, which nothing changes.
      guard let bytes = unsafeArgv[index], String(validatingCString: bytes) != nil else {
        throw StressOptionError("the argument '\(argument)' is not UTF-8")
      }
    }
    return Array(arguments.dropFirst())
  }
}
