/// Answers the messages of the compiler on standard input, on standard output.
///
/// Returns at the end of the input, or after an empty frame. It has a target apart from the
/// program, because tests can import a library, and not the module of a macro.
public func answerCompiler() {
  let connection = Connection()
  var handler = MessageHandler()
  while let message = connection.receive() {
    connection.send(handler.response(to: message))
  }
}
