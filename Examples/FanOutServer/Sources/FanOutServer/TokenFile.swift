internal import ArgumentParser
internal import FanOutCore
internal import FoundationEssentials

/// Reads a file with tokens.
enum TokenFile {
  private static let maxBytes = 1 << 20

  /// - Parameter option: the option that names the file.
  static func read(_ path: String?, _ option: String) throws -> Tokens? {
    guard let path else { return nil }
    guard let data = try? Data(contentsOf: URL(filePath: path)) else {
      throw ValidationError("\(option): cannot read '\(path)'")
    }
    guard data.count <= maxBytes, let text = String(validating: data, as: UTF8.self) else {
      throw ValidationError("\(option): '\(path)' is not a UTF-8 text of at most 1 MiB")
    }
    do {
      return try Tokens(text)
    } catch {
      throw ValidationError("\(option): '\(path)': \(error)")
    }
  }
}
