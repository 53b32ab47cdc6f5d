internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// A request, for ``Routes``.
struct IncomingRequest: Sendable {
  enum Body: Sendable {
    /// All of it, of a small request.
    case received(ByteBuffer)
    /// Hummingbird reads it.
    case arriving(RequestBody)
  }

  let head: HTTPRequest
  let body: Body
  let channel: any Channel

  var headers: HTTPFields { head.headerFields }
  var method: HTTPRequest.Method { head.method }
}
