/// Server-sent events, cut out of the bytes of a stream that come in pieces.
///
/// It keeps of an event what the client checks: the numbers in its data and how long the data is.
/// A line ends with LF or CRLF; a lone CR, which the format allows too, is not an end.
struct EventScanner {
  /// An event that was dispatched by an empty line.
  struct Event: Equatable {
    /// The numbers in the first line of data; `nil` if it is not one of this client's.
    var payload: Payload?
    /// Bytes of data; lines are joined by one byte.
    var dataLength = 0
    var hasID = false
    /// It has an `event:` line: a notice of the server, not something that was published.
    var isNotice = false
    /// A line of data has come.
    var hasData = false
  }

  private var lines = LineScanner()
  private var pending = Event()

  /// Passes on each event that ends in `bytes`. Comments, and blocks without data, are no events.
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
  /// Takes a line in; true if it ends the event.
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
  /// What stands after `name` and one space; `nil` if the line does not begin with it.
  @inline(__always)
  fileprivate func value(of name: StaticString) -> UnsafeRawBufferPointer? {
    let length = name.utf8CodeUnitCount
    guard count >= length else { return nil }
    for index in 0..<length where self[index] != name.utf8Start[index] { return nil }
    let hasSpace = count > length && self[length] == UInt8(ascii: " ")
    return UnsafeRawBufferPointer(rebasing: dropFirst(hasSpace ? length + 1 : length))
  }
}
