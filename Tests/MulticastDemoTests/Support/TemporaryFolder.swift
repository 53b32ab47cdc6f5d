import Foundation

@testable import MulticastDemo

/// A folder that exists as long as this object.
final class TemporaryFolder {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory
      .appendingPathComponent("multicast-demo-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
  }
}

extension TemporaryFolder {
  func path(_ name: String) -> String {
    url.appendingPathComponent(name).path
  }

  @discardableResult
  func write(_ text: String, to name: String) throws -> URL {
    try write(Array(text.utf8), to: name)
  }

  @discardableResult
  func write(_ bytes: [UInt8], to name: String) throws -> URL {
    let file = url.appendingPathComponent(name)
    try Data(bytes).write(to: file)
    return file
  }

  func read(_ name: String) throws -> [UInt8] {
    // Not `Data(contentsOf:)`: on Linux it leaks when the file is empty.
    let file = try InputFile(path: path(name))
    var bytes: [UInt8] = []
    while try file.read(appendingTo: &bytes) {}
    return bytes
  }
}
