#if NATS
  internal import CNATS
  internal import FanOutCore
  internal import Foundation

  /// An error of the broker or of its C client.
  struct BrokerError: Error, CustomStringConvertible {
    let status: natsStatus
    let code: jsErrCode
    let description: String
    /// Whether the broker is available, but its stream is not.
    let isOfStream: Bool

    /// - Parameters:
    ///   - url: the argument of the call. The description omits details that contain its user or
    ///     password.
    ///   - hasCredentials: whether the call used credentials of a file. The description omits all
    ///     details.
    init(
      _ status: natsStatus, _ code: jsErrCode = jsErrCode(0), with url: Secret<String>? = nil,
      hasCredentials: Bool = false
    ) {
      self.status = status
      self.code = code
      isOfStream = false
      let general = String(cString: natsStatus_GetText(status))
      // SAFETY: the string belongs to this thread, which made the call, and is valid until its next
      // call.
      let detail = nats_GetLastError(nil).map { String(cString: $0) } ?? ""
      let isLeftOut =
        detail.isEmpty || detail.hasSuffix(general) || hasCredentials
        || url.map { Self.credentials(in: $0.revealed).contains(where: detail.contains) } ?? false
      description = isLeftOut ? general : "\(general): \(detail)"
    }

    /// The user and the password of `url`, each with and without percent-encoding.
    private static func credentials(in url: String) -> [String] {
      guard let end = url.lastIndex(of: "@") else { return [] }
      let start = url[..<end].firstRange(of: "://")?.upperBound ?? url.startIndex
      let parts = url[start..<end].split { ":/@".contains($0) }.map(String.init)
      return parts + parts.compactMap(\.removingPercentEncoding)
    }

    /// - Parameter description: why a session ends although no call has failed.
    init(_ description: String, isOfStream: Bool = false) {
      status = NATS_ERR
      code = jsErrCode(0)
      self.isOfStream = isOfStream
      self.description = description
    }

    /// Whether the broker has refused the event. Otherwise there was no response.
    var isRefusal: Bool {
      status == NATS_MAX_PAYLOAD || status == NATS_ERR && code != jsErrCode(0)
    }

    /// Whether the event exceeds the size limit of the broker or of the stream.
    var isTooLong: Bool { status == NATS_MAX_PAYLOAD || code == JSStreamMessageExceedsMaximumErr }

    /// Whether the broker has too little storage for the stream.
    var isOutOfStorage: Bool {
      [JSInsufficientResourcesErr, JSStorageResourcesExceededErr, JSMemoryResourcesExceededErr]
        .contains(code)
    }

    /// Throws unless `status` is `NATS_OK`.
    static func check(
      _ status: natsStatus, _ code: jsErrCode = jsErrCode(0)
    ) throws(BrokerError) {
      if status != NATS_OK { throw BrokerError(status, code) }
    }
  }
#endif
