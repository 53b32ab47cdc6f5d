internal import HTTPTypes
internal import Logging
internal import NIOCore

extension Logger {
  /// Logs that the server refuses a request.
  ///
  /// Without the path, the query and header fields of the request, which may contain a token.
  func refused(_ refusal: RequestError, _ address: SocketAddress?, _ route: Route? = nil) {
    guard logLevel <= .info else { return }
    info(
      "refused a request",
      metadata: [
        "status": "\(refusal.status.code)", "reason": "\(refusal.reason)",
        "path": "\(route?.pattern ?? "unknown")",
        "address": "\(address?.ipAddress ?? "unknown")",
      ])
  }
}
