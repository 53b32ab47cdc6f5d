internal import HummingbirdCore
internal import NIOCore

/// A connection of HTTP/1, or a stream of HTTP/2.
struct HTTPConnection: ServerChildChannelValue {
  let channel: any Channel
  /// Where its requests are; `nil` if it is a stream of events, or closed.
  let requests: EventLoopFuture<SmallRequests.LargeRequests?>

  /// Adds the handler that answers requests. Call it on the event loop.
  ///
  /// - Parameter codec: as of ``SmallRequests``.
  init(_ channel: any Channel, _ codec: HTTP1Codec?, _ routes: Routes) throws {
    let requests = channel.eventLoop.makePromise(of: SmallRequests.LargeRequests?.self)
    self.channel = channel
    self.requests = requests.futureResult
    do {
      try channel.pipeline.syncOperations.addHandler(
        SmallRequests(routes, codec, requests))
    } catch {
      requests.succeed(nil)
      throw error
    }
  }
}
