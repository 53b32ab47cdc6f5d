/// Ends the process with `message` unless `condition` holds.
///
/// `precondition` does not print its message in a release build, in which stress tests run.
package func require(
  _ condition: Bool, _ message: @autoclosure () -> String, file: StaticString = #fileID,
  line: UInt = #line
) {
  guard !condition else { return }
  fatalError(message(), file: file, line: line)
}
