internal import Synchronization

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The folder of a store, which one process at a time uses.
///
/// The system releases the lock when the process ends, however it ends.
final class FolderLock: Sendable {
  /// `nil` after the release.
  private let file: Mutex<Int32?>

  /// Creates the folder if it does not exist.
  init(_ folder: String) throws(StoreError) {
    guard mkdir(folder, 0o750) == 0 || errno == EEXIST else {
      throw StoreError("the folder '\(folder)' cannot be created: \(Self.reason)")
    }
    let file = open("\(folder)/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o640)
    guard file >= 0 else {
      throw StoreError("the folder '\(folder)' cannot be written: \(Self.reason)")
    }
    guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
      let isTaken = errno == EWOULDBLOCK
      let reason = Self.reason
      close(file)
      throw StoreError(
        isTaken
          ? "another server uses the folder '\(folder)'"
          : "the folder '\(folder)' cannot be locked: \(reason)")
    }
    self.file = Mutex(file)
  }

  deinit { release() }

  /// Allows another process to use the folder.
  func release() {
    guard let file = file.withLock({ $0.take() }) else { return }
    // A process that is being started has the file too, until it runs its program. Until then, to
    // close the file here does not end the lock.
    flock(file, LOCK_UN)
    close(file)
  }

  private static var reason: String { String(cString: strerror(errno)) }
}
