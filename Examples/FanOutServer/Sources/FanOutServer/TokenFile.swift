internal import ArgumentParser
internal import FanOutCore
internal import FanOutJWT
internal import FoundationEssentials

/// Reads a file with tokens.
enum TokenFile {

  /// - Parameter option: the option that names the file.
  static func read(_ path: String?, _ option: String) throws -> Tokens? {
    guard let path else { return nil }
    do {
      return try Tokens(TextFile.read(path, option))
    } catch let error as Tokens.Refusal {
      throw ValidationError("\(option): '\(path)': \(error)")
    }
  }

  /// Reads a file with keys of JSON web tokens.
  static func readKeys(_ path: String?, _ option: String) async throws -> JWTKeys? {
    guard let path else { return nil }
    do {
      return try await JWTKeys(TextFile.read(path, option))
    } catch let error as JWTKeys.Refusal {
      throw ValidationError("\(option): '\(path)': \(error)")
    }
  }
}

/// Reads a small file of text.
enum TextFile {
  private static let maxBytes = 1 << 20

  /// - Parameter option: the option that names the file.
  static func read(_ path: String, _ option: String) throws -> String {
    guard let data = try? Data(contentsOf: URL(filePath: path)) else {
      throw ValidationError("\(option): cannot read '\(path)'")
    }
    guard data.count <= maxBytes, let text = String(validating: data, as: UTF8.self) else {
      throw ValidationError("\(option): '\(path)' is not a UTF-8 text of at most 1 MiB")
    }
    return text
  }
}
