internal import Foundation

/// Which regular file it is, whatever its path. A pipe, a terminal or another device has none.
struct FileIdentity: Equatable {
  private let device: dev_t
  private let number: ino_t

  /// The identity of an open file.
  init?(_ descriptor: Int32) {
    self.init { fstat(descriptor, &$0) }
  }

  /// The identity of the file to which a path leads.
  init?(path: String) {
    self.init { stat(path, &$0) }
  }

  private init?(_ call: (inout stat) -> Int32) {
    var status = stat()
    guard call(&status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    device = status.st_dev
    number = status.st_ino
  }
}
