#if NATS
  import Foundation
  import Synchronization
  import Testing

  /// The next port to try.
  private let nextPort = Atomic(Int.random(in: 0..<ports.count))

  /// Below the ports that the system gives to connections, on Linux and on Darwin: none of these
  /// takes a port between a test's choice and the start of the process that listens on it.
  private let ports = 20_000..<32_000

  /// A port on which no process listens, another one each time.
  func freePort() throws -> Int {
    while true {
      let number = nextPort.wrappingAdd(1, ordering: .relaxed).oldValue
      let port = ports.lowerBound + number % ports.count
      if try isFree(port) { return port }
    }
  }

  private func isFree(_ port: Int) throws -> Bool {
    let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    try #require(file >= 0)
    defer { close(file) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    // SAFETY: the call takes a `sockaddr` of this length, and the pointer is valid during the
    // call.
    let status = withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(file, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    try #require(status == 0 || errno == EADDRINUSE)
    return status == 0
  }

  /// Polls until `condition` holds. The time limit of the suite ends it.
  func eventually(_ condition: () async throws -> Bool) async throws {
    while try await !condition() { try await Task.sleep(for: .milliseconds(10)) }
  }
#endif
