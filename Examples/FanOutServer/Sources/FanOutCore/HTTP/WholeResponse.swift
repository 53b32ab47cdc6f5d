internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// A response whose body is known before it is sent.
struct WholeResponse: Sendable {
  let status: HTTPResponse.Status
  /// Without `Content-Length` and `Date`.
  var fields: HTTPFields
  private(set) var body: ByteBuffer
  /// The value of `Content-Length`: the number of bytes that the body of a response to `GET` has.
  /// `nil`: the status says that there is none (RFC 9110, section 8.6).
  let length: Int?

  init(status: HTTPResponse.Status, fields: HTTPFields, body: ByteBuffer = ByteBuffer()) {
    self.status = status
    self.fields = fields
    self.body = body
    length = status == .noContent ? nil : body.readableBytes
  }
}

extension WholeResponse {
  /// Without `Date`.
  var head: HTTPResponse {
    var head = HTTPResponse(status: status, headerFields: fields)
    if let length {
      head.headerFields.append(HTTPField(name: .contentLength, value: String(length)))
    }
    return head
  }

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
    let head = response.head
    self.init(
      status: head.status, headers: head.headerFields,
      body: ResponseBody(byteBuffer: response.body))
  }
}
