/// Text in columns: the first is aligned left, the others right.
public struct Table {
  private let indentation: String
  private var lines: [[String]] = []

  /// - Parameter indentation: the number of spaces before each line.
  public init(indentation: Int = 0) {
    self.indentation = String(repeating: " ", count: indentation)
  }

  public mutating func append(_ line: [String]) {
    lines.append(line)
  }

  public var text: String {
    let columns = lines.map(\.count).max() ?? 0
    let widths = (0..<columns).map { column in
      lines.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
    }
    return lines.map { line in
      let cells = line.enumerated().map { column, cell in
        let padding = String(repeating: " ", count: widths[column] - cell.count)
        return column == 0 ? cell + padding : padding + cell
      }
      return indentation + cells.joined(separator: "  ")
    }.joined(separator: "\n")
  }
}

extension Double {
  /// With three significant digits or more, and not in scientific notation.
  var formatted: String {
    if self == rounded(), magnitude < 1e15 { return "\(Int(self))" }
    let decimals = magnitude >= 100 ? 0 : magnitude >= 10 ? 1 : 2
    return fixed(decimals)
  }

  /// With `decimals` digits behind the point.
  func fixed(_ decimals: Int) -> String { text("%.*f", decimals) }

  /// With up to `digits` digits that are not leading or trailing zeros.
  func significant(_ digits: Int) -> String { text("%.*g", digits) }

  private func text(_ format: String, _ precision: Int) -> String {
    var buffer = [CChar](repeating: 0, count: 64)
    let length = withVaList([CInt(precision), self]) {
      vsnprintf(&buffer, buffer.count, format, $0)
    }
    return String(
      decoding: buffer.prefix(Int(length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
