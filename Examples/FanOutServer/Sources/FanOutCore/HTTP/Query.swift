/// The parameters of a request.
struct Query {
  private var parameters: [(name: String, value: String)] = []

  /// - Parameter text: the part after the question mark; `nil` or empty: no parameters.
  init(_ text: Substring?) throws(RequestError) {
    guard let text, !text.isEmpty else { return }
    for parameter in text.split(separator: "&", omittingEmptySubsequences: false) {
      let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = Self.decode(parts[0]), let value = Self.decode(parts.dropFirst().first ?? "")
      else { throw .badRequest("the query has a '%' that is not the start of a UTF-8 byte") }
      parameters.append((name, value))
    }
  }

  /// Decodes `%xx`, and `+` for a space.
  ///
  /// - Returns: `nil` if that is not UTF-8.
  private static func decode(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
      case UInt8(ascii: "%"):
        let digits = Substring(rest.prefix(2))
        guard digits.utf8.count == 2, digits.allSatisfy(\.isHexDigit),
          let value = UInt8(digits, radix: 16)
        else { return nil }
        bytes.append(value)
        rest.removeFirst(2)
      default: bytes.append(byte)
      }
    }
    return String(validating: bytes, as: UTF8.self)
  }
}

extension Query {
  /// Removes a parameter.
  ///
  /// - Parameter names: its names; capitals do not matter.
  /// - Returns: its value; `nil` if it is missing.
  mutating func take(_ names: String...) throws(RequestError) -> String? {
    guard !parameters.isEmpty else { return nil }
    let lowercased = names.map { $0.lowercased() }
    let isWanted = { (parameter: (name: String, value: String)) in
      lowercased.contains(parameter.name.lowercased())
    }
    let values = parameters.filter(isWanted).map(\.value)
    parameters.removeAll(where: isWanted)
    guard values.count <= 1 else { throw .badRequest("there is more than one '\(names[0])'") }
    return values.first
  }

  /// Removes all parameters with a name; capitals do not matter.
  ///
  /// - Returns: their values.
  mutating func takeAll(_ name: String) -> [String] {
    let values = parameters.filter { $0.name.lowercased() == name }.map(\.value)
    parameters.removeAll { $0.name.lowercased() == name }
    return values
  }

  /// Removes a parameter whose value is a number.
  mutating func takeNumber<Number: FixedWidthInteger>(
    _ name: String, in range: ClosedRange<Number>
  ) throws(RequestError) -> Number? {
    guard let text = try take(name) else { return nil }
    guard let number = Number(digits: text), range.contains(number) else {
      let first = range.lowerBound
      throw .badRequest(
        first == range.upperBound
          ? "the only value of '\(name)' is \(first)"
          : "'\(name)' is not a number from \(first) to \(range.upperBound)")
    }
    return number
  }

  /// Refuses the parameters that were not taken.
  ///
  /// - Parameter allowed: the names that the path takes.
  func refuseRest(_ allowed: String...) throws(RequestError) { try refuseRest(allowed) }

  /// As ``refuseRest(_:)-(String...)``.
  func refuseRest(_ allowed: [String]) throws(RequestError) {
    guard !parameters.isEmpty else { return }
    guard !allowed.isEmpty else { throw .badRequest("this path takes no parameters") }
    let names = allowed.map { "'\($0)=…'" }.joined(separator: ", ")
    throw .badRequest("the only parameters of this path are \(names)")
  }
}

extension FixedWidthInteger {
  /// - Parameter text: only digits, without a sign.
  init?(digits text: some StringProtocol) {
    let isNumber = text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard isNumber, let value = Self(text) else { return nil }
    self = value
  }
}
