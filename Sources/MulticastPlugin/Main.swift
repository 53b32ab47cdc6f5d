internal import MulticastExpansion

/// The plugin of the compiler that expands `@Multicast` and `@Answer`.
///
/// The compiler starts it and sends one message after the other on standard input.
@main
enum Main {
  static func main() {
    answerCompiler()
  }
}
