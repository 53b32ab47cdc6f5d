import Foundation
import NIOCore

/// Connects, sends `text`, and resets the connection. Waits for no event loop.
func sendAndReset(_ text: String, port: Int) throws {
  #if os(Linux)
    let stream = Int32(SOCK_STREAM.rawValue)
  #else
    let stream = SOCK_STREAM
  #endif
  let client = socket(AF_INET, stream, 0)
  try check(client)
  defer { close(client) }
  try SocketAddress(ipAddress: "127.0.0.1", port: port).withSockAddr { address, size in
    try check(connect(client, address, socklen_t(size)))
  }
  try check(send(client, text, text.utf8.count, 0))
  // The kernel resets the connection when it is closed.
  var linger = linger(l_onoff: 1, l_linger: 0)
  try check(
    setsockopt(
      client, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger))))
}

private func check(_ result: some FixedWidthInteger) throws {
  if result < 0 { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}
