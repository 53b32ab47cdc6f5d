/// Text in columns that are aligned left.
enum Columns {
  static func text(_ cells: [[String]]) -> String {
    let lines = cells.map { $0.map(\.printable) }  // A cell with several lines would break them.
    let count = lines.map(\.count).max() ?? 0
    let widths = (0..<count).map { column in
      lines.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
    }
    return lines.map { line in
      var text = ""
      for (column, cell) in line.enumerated() {
        text += cell + String(repeating: " ", count: widths[column] - cell.count + 3)
      }
      while text.last == " " { text.removeLast() }
      return text
    }.joined(separator: "\n")
  }
}
