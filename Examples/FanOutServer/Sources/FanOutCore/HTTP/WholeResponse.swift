internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// A response whose body is known before it is sent.
struct WholeResponse: Sendable {
  var head: HTTPResponse
  var body: ByteBuffer

  init(status: HTTPResponse.Status, headers: HTTPFields, body: ByteBuffer = ByteBuffer()) {
    head = HTTPResponse(status: status, headerFields: headers)
    head.headerFields.append(
      HTTPField(name: .contentLength, value: String(body.readableBytes)))
    self.body = body
  }
}

extension WholeResponse {
  /// A client would read a body, also of an error, as the response to its next request.
  func withoutBody(if method: HTTPRequest.Method) -> WholeResponse {
    guard method == .head else { return self }
    var response = self
    response.body = ByteBuffer()
    return response
  }
}

extension Response {
  init(_ response: WholeResponse) {
    self.init(
      status: response.head.status, headers: response.head.headerFields,
      body: ResponseBody(byteBuffer: response.body))
  }
}
