#if NATS
  internal import CNATS
  internal import FanOutCore
  internal import Foundation

  /// What the C client says of a call that failed.
  struct BrokerError: Error, CustomStringConvertible {
    let status: natsStatus
    let code: jsErrCode
    let description: String

    /// - Parameter url: what the call was given. Details that quote its user or password are left
    ///   out.
    init(_ status: natsStatus, _ code: jsErrCode = jsErrCode(0), with url: Secret<String>? = nil) {
      self.status = status
      self.code = code
      let general = String(cString: natsStatus_GetText(status))
      // SAFETY: a string of this thread, which made the call; it lives until the thread's next one.
      let detail = nats_GetLastError(nil).map { String(cString: $0) } ?? ""
      let isLeftOut =
        detail.isEmpty || detail.hasSuffix(general)
        || url.map { Self.credentials(in: $0.revealed).contains(where: detail.contains) } ?? false
      description = isLeftOut ? general : "\(general): \(detail)"
    }

    /// The user and the password of `url`, each as it is written there and without escapes.
    private static func credentials(in url: String) -> [String] {
      guard let end = url.lastIndex(of: "@") else { return [] }
      let start = url[..<end].firstRange(of: "://")?.upperBound ?? url.startIndex
      let parts = url[start..<end].split { ":/@".contains($0) }.map(String.init)
      return parts + parts.compactMap(\.removingPercentEncoding)
    }

    /// - Parameter description: why a session ends though no call has failed.
    init(_ description: String) {
      status = NATS_ERR
      code = jsErrCode(0)
      self.description = description
    }

    /// Whether the broker has answered that it does not take the event, as opposed to not having
    /// answered.
    var isRefusal: Bool {
      status == NATS_MAX_PAYLOAD || status == NATS_ERR && code != jsErrCode(0)
    }

    /// Whether the event is longer than the broker or the stream takes.
    var isTooLong: Bool { status == NATS_MAX_PAYLOAD || code == JSStreamMessageExceedsMaximumErr }

    /// Throws unless `status` is that of success.
    static func check(
      _ status: natsStatus, _ code: jsErrCode = jsErrCode(0)
    ) throws(BrokerError) {
      if status != NATS_OK { throw BrokerError(status, code) }
    }
  }
#endif
