internal import ArgumentParser
internal import FanOutCore
internal import FoundationEssentials

/// A JSON object whose members are options.
///
/// Strict, unlike the JSON of swift-configuration, which takes `true` for the number 1, and ignores
/// unknown members and values of a wrong type.
struct ConfigurationFile {
  private static let maxBytes = 1 << 20

  /// The values of each option, as text.
  let values: [String: [String]]

  /// - Parameter names: the names that the members may have.
  init(_ path: String, _ names: [String]) throws {
    guard let data = try? Data(contentsOf: URL(filePath: path)) else {
      throw ValidationError("--config: cannot read '\(path)'")
    }
    // The decoder also takes commas before brackets, and other encodings.
    let kind =
      data.count > Self.maxBytes ? .other : JSON.kind(of: Self.withoutByteOrderMark(data))
    guard kind != .other,
      let members = try? JSONDecoder().decode([String: Value].self, from: data)
    else {
      throw ValidationError(
        "--config: '\(path)' is not a JSON object whose members are numbers, texts, true, false, or "
          + "lists of texts")
    }
    // The decoder takes one of them.
    guard kind == .object else {
      throw ValidationError("--config: '\(path)' has an option twice")
    }
    for name in members.keys.sorted() where !names.contains(name) {
      throw ValidationError("--config: '\(path)' has '\(name)', which is not an option")
    }
    values = members.mapValues(\.texts)
  }

  private static func withoutByteOrderMark(_ data: Data) -> Data {
    data.starts(with: [0xef, 0xbb, 0xbf]) ? data.dropFirst(3) : data
  }

  private struct Value: Decodable {
    let texts: [String]

    init(from decoder: any Decoder) throws {
      let value = try decoder.singleValueContainer()
      if let flag = try? value.decode(Bool.self) {
        texts = ["\(flag)"]
      } else if let number = try? value.decode(Int.self) {
        texts = ["\(number)"]
      } else if let number = try? value.decode(Double.self) {
        texts = ["\(number)"]
      } else if let text = try? value.decode(String.self) {
        texts = [text]
      } else {
        texts = try value.decode([String].self)
      }
    }
  }
}
