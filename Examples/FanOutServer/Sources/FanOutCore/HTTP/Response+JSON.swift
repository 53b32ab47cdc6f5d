internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

extension Response {
  static func json(
    _ text: String, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
  ) -> Response {
    .text(text + "\n", "application/json; charset=utf-8", status: status, headers: headers)
  }

  static func text(
    _ text: String, _ type: String, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
  ) -> Response {
    var headers = headers
    headers[.contentType] = type
    headers[.xContentTypeOptions] = "nosniff"
    if headers[.cacheControl] == nil { headers[.cacheControl] = "no-store" }
    return Response(
      status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
  }
}
