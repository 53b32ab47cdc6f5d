/// The diagnostics of one expansion, in the order of the source.
struct Findings {
  private(set) var all: [Finding] = []

  var isEmpty: Bool { all.isEmpty }

  mutating func report(_ message: String, at range: Range<Int>) {
    let finding = Finding(message: message, range: range)
    // A requirement is checked for the class and again for the extension.
    if !all.contains(finding) { all.append(finding) }
  }
}
