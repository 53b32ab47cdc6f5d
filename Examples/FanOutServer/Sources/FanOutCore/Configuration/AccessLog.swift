internal import Dispatch
public import Logging
internal import NIOConcurrencyHelpers

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// A file with one line per request.
///
/// A line has no secrets: no header fields but the name of the client's program and the page
/// without its query, and only those parameters of the query that the server knows.
///
/// ## Thread safety
///
/// Any thread may use it. A queue of its own writes to the file, so that a slow disk or a full pipe
/// does not block an event loop. Lines are dropped, and counted in the server's log, if more than 1
/// MiB waits, or if they cannot be written.
public final class AccessLog: Sendable {
  /// How a line looks.
  public enum Format: String, Sendable, CaseIterable {
    /// The format of nginx and Apache.
    case combined
    case json
  }

  private struct State {
    var file: Int32
    var waiting: [UInt8] = []
    var isWriting = false
    var dropped = 0
    /// The file that ends with a part of a line.
    var fileInLine: Int32?
    /// Lines that could not be written, and when the next warning of them is due.
    var unwritten = 0
    var nextWarning = ContinuousClock.now
  }

  private static let maxBytes = 1 << 20
  private static let lineEnd = UInt8(ascii: "\n")

  let format: Format
  private let path: String?
  private let logger: Logger
  /// Guards what waits for the queue.
  private let state: NIOLockedValueBox<State>
  /// Writes to the file, and closes an old one.
  private let queue = DispatchQueue(label: "access-log")

  /// - Parameters:
  ///   - path: a file, to which lines are appended; `nil`: standard output.
  ///   - logger: gets the errors.
  /// - Returns: `nil` if the file cannot be opened.
  public init?(_ format: Format, path: String?, logger: Logger) {
    let file = path.map { Self.open($0) } ?? STDOUT_FILENO
    guard file >= 0 else { return nil }
    self.format = format
    self.path = path
    self.logger = logger
    state = NIOLockedValueBox(State(file: file))
  }

  deinit {
    let file = state.withLockedValue { $0.file }
    if path != nil { close(file) }
  }

  private static func open(_ path: String, _ flags: Int32 = 0) -> Int32 {
    let flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | flags
    #if canImport(Darwin)
      return Darwin.open(path, flags, 0o640)
    #elseif canImport(Glibc)
      return Glibc.open(path, flags, 0o640)
    #else
      return Musl.open(path, flags, 0o640)
    #endif
  }
}

extension AccessLog {
  /// Appends a line soon.
  func write(_ line: String) {
    let isFirst = state.withLockedValue { state in
      guard state.waiting.count < Self.maxBytes else {
        state.dropped += 1
        return false
      }
      state.waiting += line.utf8
      state.waiting.append(Self.lineEnd)
      defer { state.isWriting = true }
      return !state.isWriting
    }
    if isFirst { queue.async { self.writeWaiting() } }
  }

  /// Opens the file again, after another program has renamed it.
  ///
  /// It waits neither for a write, because a pipe may be full, nor for a reader of a pipe.
  ///
  /// - Returns: whether it could be opened. If not, lines go to the old one.
  public func reopen() -> Bool {
    guard let path else { return true }
    let file = Self.open(path, O_NONBLOCK)
    guard file >= 0 else { return false }
    // Writes wait, as those to the first one.
    _ = fcntl(file, F_SETFL, O_APPEND)
    let old = state.withLockedValue { state in
      defer { state.file = file }
      // A file that is opened later may get its number.
      state.fileInLine = nil
      return state.file
    }
    // On the queue, behind the write that may use it.
    queue.async { close(old) }
    return true
  }

  /// Waits until all lines are in the file, at most for `limit`: a pipe may be full, and its reader
  /// stopped.
  ///
  /// - Returns: whether they are.
  @discardableResult
  public func flush(within limit: Duration) -> Bool {
    let isDone = DispatchSemaphore(value: 0)
    queue.async { isDone.signal() }
    return isDone.wait(timeout: .now() + .milliseconds(Int(limit / .milliseconds(1)))) == .success
  }

  private func writeWaiting() {
    while true {
      let (bytes, file, dropped) = state.withLockedValue { state in
        var taken: [UInt8] = []
        swap(&taken, &state.waiting)
        if state.fileInLine == state.file, !taken.isEmpty { taken.insert(Self.lineEnd, at: 0) }
        let dropped = state.dropped
        state.dropped = 0
        state.isWriting = !taken.isEmpty
        return (taken, state.file, dropped)
      }
      if dropped > 0 { logger.warning("the access log is too slow: \(dropped) lines are dropped") }
      guard !bytes.isEmpty else { return }
      let (rest, error) = Self.write(bytes[...], to: file)
      if rest.isEmpty {
        state.withLockedValue { $0.fileInLine = nil }
      } else {
        drop(rest, of: bytes, file, error)
      }
    }
  }

  /// Counts the lines of `rest`, the end of `bytes`, which could not be written to `file`.
  private func drop(
    _ rest: ArraySlice<UInt8>, of bytes: [UInt8], _ file: Int32, _ error: Int32
  ) {
    let count = state.withLockedValue { state in
      if rest.startIndex > 0 {
        state.fileInLine = bytes[rest.startIndex - 1] == Self.lineEnd ? nil : file
      }
      // At the beginning it ends a line that is there already.
      state.unwritten += rest.drop { $0 == Self.lineEnd }.count { $0 == Self.lineEnd }
      // Not for each write: a full disk would fill the server's log too.
      guard .now >= state.nextWarning else { return 0 }
      state.nextWarning = .now + .seconds(1)
      defer { state.unwritten = 0 }
      return state.unwritten
    }
    guard count > 0 else { return }
    let reason = String(cString: strerror(error))
    logger.warning("the access log cannot be written (\(reason)): \(count) lines are dropped")
  }

  /// - Returns: what could not be written, and the number of the error.
  private static func write(
    _ bytes: ArraySlice<UInt8>, to file: Int32
  ) -> (rest: ArraySlice<UInt8>, error: Int32) {
    var rest = bytes
    while !rest.isEmpty {
      let (count, error) = rest.withUnsafeBytes { bytes in
        #if canImport(Darwin)
          (Darwin.write(file, bytes.baseAddress, bytes.count), errno)
        #elseif canImport(Glibc)
          (Glibc.write(file, bytes.baseAddress, bytes.count), errno)
        #else
          (Musl.write(file, bytes.baseAddress, bytes.count), errno)
        #endif
      }
      if count < 0, error == EINTR { continue }
      if count < 0, error == EAGAIN {
        // Another process that shares standard output may have made it non-blocking.
        usleep(10_000)
        continue
      }
      guard count > 0 else { return (rest, error) }
      rest = rest.dropFirst(count)
    }
    return (rest, 0)
  }
}
