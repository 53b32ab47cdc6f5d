internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// Why the server refuses a request. The response is `{"error":"…"}`.
struct RequestError: Error {
  let status: HTTPResponse.Status
  let reason: String
  var headers: HTTPFields = [:]
  /// Further members of the response: names, and JSON.
  var members: [(String, String)] = []

  init(_ status: HTTPResponse.Status, _ reason: String, _ headers: HTTPFields = [:]) {
    self.status = status
    self.reason = reason
    self.headers = headers
  }

  static func badRequest(_ reason: String) -> RequestError { RequestError(.badRequest, reason) }

  static func unavailable(_ reason: Unavailable) -> RequestError {
    reason.isTooLong
      ? RequestError(.contentTooLarge, reason.reason)
      : RequestError(.serviceUnavailable, reason.reason, [.retryAfter: "1"])
  }

  /// The body of the response.
  var json: String { JSON.object([("error", JSON.string(reason))] + members) }

  var response: WholeResponse { .json(json, status: status, headers: headers) }
}

/// For applications that pass it on from a route.
extension RequestError: HTTPResponseError {
  func response(from request: Request, context: some RequestContext) -> Response {
    Response(response)
  }
}
