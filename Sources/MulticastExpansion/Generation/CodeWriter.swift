/// Lines of Swift with their indentation. Breaks what is longer than a line.
struct CodeWriter {
  private(set) var text = ""
  private var indentation = ""
  private static var width: Int { 100 }

  /// A line; an empty one does not follow the beginning of a block.
  mutating func line(_ line: String = "") {
    if line.isEmpty {
      if !text.hasSuffix("{\n"), !text.isEmpty { text += "\n" }
    } else {
      text += indentation + line + "\n"
    }
  }

  mutating func lines(_ lines: [String]) {
    for line in lines { self.line(line) }
  }

  mutating func indented(_ body: (inout CodeWriter) -> Void) {
    indentation += "  "
    body(&self)
    indentation.removeLast(2)
  }

  /// `opening {`, the body and `}`.
  mutating func block(_ opening: String, _ body: (inout CodeWriter) -> Void) {
    let line = opening + " {"
    if isTooLong(line), let open = line.firstIndex(of: "("), let close = matching(open, in: line) {
      self.line(String(line[...open]))
      indented { $0.list(String(line[line.index(after: open)..<close])) }
      self.line(String(line[close...]))
    } else {
      self.line(line)
    }
    indented(body)
    self.line("}")
  }

  /// What is between parentheses: on one line, or on one for each part.
  private mutating func list(_ list: String) {
    guard isTooLong(list) else { return line(list) }
    var start = list.startIndex
    var depth = 0
    for index in list.indices {
      switch list[index] {
      case "(", "[", "{", "<": depth += 1
      case ")", "]", "}": depth -= 1
      case ">" where !list[..<index].hasSuffix("-"): depth -= 1
      case "," where depth == 0:
        line(String(list[start...index]))
        start = list.index(index, offsetBy: 2, limitedBy: list.endIndex) ?? list.endIndex
      default: break
      }
    }
    line(String(list[start...]))
  }

  /// A statement. If it is too long, its last closure gets lines of its own.
  mutating func statement(_ statement: String) {
    guard isTooLong(statement), let open = closure(in: statement),
      let close = matching(open, in: statement)
    else { return line(statement) }
    var head = statement[...open]
    var body = statement[statement.index(after: open)..<close].drop { $0 == " " }
    if let parameters = body.firstRange(of: " in ") {
      head += " " + body[..<parameters.lowerBound] + " in"
      body = body[parameters.upperBound...]
    }
    while body.last == " " { body.removeLast() }
    line(String(head))
    indented { $0.line(String(body)) }
    line(String(statement[close...]))
  }

  mutating func statements(_ statements: [String]) {
    for statement in statements { self.statement(statement) }
  }

  /// Strings and raw identifiers may contain brackets: a line with one stays whole.
  private func isTooLong(_ line: String) -> Bool {
    indentation.count + line.count > CodeWriter.width
      && !line.contains { "\n\"`".contains($0) }
  }

  /// The brace that opens the closure after a call.
  private func closure(in statement: String) -> String.Index? {
    var depth = 0
    var result: String.Index?
    for index in statement.indices {
      switch statement[index] {
      case "(", "[": depth += 1
      case ")", "]": depth -= 1
      case "{" where depth == 0 && result == nil: result = index
      default: break
      }
    }
    return result
  }

  /// The bracket that closes the one at `open`.
  private func matching(_ open: String.Index, in line: String) -> String.Index? {
    var depth = 0
    for index in line[open...].indices {
      switch line[index] {
      case "(", "[", "{": depth += 1
      case ")", "]", "}":
        depth -= 1
        if depth == 0 { return index }
      default: break
      }
    }
    return nil
  }
}
