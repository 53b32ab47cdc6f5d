import Foundation

/// Which file it is, whatever its path.
struct FileIdentity: Equatable {
  private let device: dev_t
  private let number: ino_t

  /// The identity of an open file, or `nil` if it is a pipe, a terminal or another device.
  init?(ofRegularFile descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    device = status.st_dev
    number = status.st_ino
  }
}
