/// Splits bytes of a stream that arrive in pieces into server-sent events.
///
/// It keeps only what the client checks: the numbers in the data of an event, and the length of the
/// data. A line ends with LF or CRLF. The format also allows CR, which this scanner does not
/// support.
struct EventScanner {
  /// A complete event, which ends with an empty line.
  struct Event: Equatable {
    /// The numbers in the first line of data; `nil` if this client did not publish it.
    var payload: Payload?
    /// Bytes of data, with one byte between lines.
    var dataLength = 0
    var hasID = false
    /// Whether it has an `event:` line: then it is a notice of the server.
    var isNotice = false
    /// Whether it has a line of data.
    var hasData = false
  }

  private var lines = LineScanner()
  private var pending = Event()

  /// Calls `body` with each event that ends in `bytes`. Comments and blocks without data are not
  /// events.
  mutating func scan(
    _ bytes: UnsafeRawBufferPointer, _ body: (Event) -> Void
  ) throws(ScanError) {
    var rest = bytes
    var event = pending
    defer { pending = event }
    while !rest.isEmpty {
      let isEnd = try lines.next(in: &rest) { line throws(ScanError) in event.add(line) }
      guard isEnd == true else { continue }
      if event.hasData { body(event) }
      event = Event()
    }
  }
}

extension EventScanner.Event {
  /// Adds a line; true if it ends the event.
  fileprivate mutating func add(_ line: UnsafeRawBufferPointer) -> Bool {
    guard let first = line.first else { return true }
    switch first {
    case UInt8(ascii: "d"):
      guard let data = line.value(of: "data:") else { break }
      if hasData {
        dataLength += 1
      } else {
        payload = Payload(data)
      }
      hasData = true
      dataLength += data.count
    case UInt8(ascii: "i"):
      if line.value(of: "id:") != nil { hasID = true }
    case UInt8(ascii: "e"):
      if line.value(of: "event:") != nil { isNotice = true }
    default:
      break
    }
    return false
  }
}

extension UnsafeRawBufferPointer {
  /// The bytes after `name` and an optional space; `nil` if the line does not begin with `name`.
  @inline(__always)
  fileprivate func value(of name: StaticString) -> UnsafeRawBufferPointer? {
    let length = name.utf8CodeUnitCount
    guard count >= length else { return nil }
    for index in 0..<length where self[index] != name.utf8Start[index] { return nil }
    let hasSpace = count > length && self[length] == UInt8(ascii: " ")
    return UnsafeRawBufferPointer(rebasing: dropFirst(hasSpace ? length + 1 : length))
  }
}
