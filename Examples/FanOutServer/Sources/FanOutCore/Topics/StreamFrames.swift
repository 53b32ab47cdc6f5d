internal import Multicast
package import NIOCore

/// What a subscriber receives, as server-sent events without the chunks of HTTP/1.1. The
/// subscription ends with the object.
package final class StreamFrames {
  /// The most frames of one read, and the bytes with which it ends: a client that does not read
  /// keeps them in memory.
  private static let share = 64
  private static let byteShare = 64 << 10

  /// `nil` after the end.
  private var subscription: TopicSubscription?
  private let retryMilliseconds: Int64
  private var hasBegun = false

  init(_ subscription: TopicSubscription, retryMilliseconds: Int64) {
    self.subscription = subscription
    self.retryMilliseconds = retryMilliseconds
  }

  /// An empty comment.
  package static var heartbeat: ByteBuffer { Frame.payload(of: Frame.heartbeat) }
}

extension StreamFrames {
  /// Whether all frames have been read.
  package var isEnded: Bool { subscription == nil }

  /// The next frames. If there are none, `whenReadable` of the subscription is called when there
  /// are some again, or at the end.
  package func read() -> [ByteBuffer] {
    var frames: [ByteBuffer] = []
    var bytes = 0
    if !hasBegun, let subscription {
      hasBegun = true
      frames.append(Frame.retry(milliseconds: retryMilliseconds, id: subscription.newest))
    }
    while frames.count < Self.share, bytes < Self.byteShare, let reader = subscription?.reader {
      switch reader.nextIfAvailable() {
      case .event(let element, at: _):
        let event = element.event
        let frame =
          subscription?.namesTopics == true
          ? Frame.event(event.frame, of: event.topic) : event.frame
        frames.append(frame)
        bytes += frame.readableBytes
      case .missed(let range, of: let topic):
        frames.append(Frame.missed(range, of: subscription?.namesTopics == true ? topic : nil))
      case nil:
        guard let end = reader.end else { return frames.map(Frame.payload) }
        frames.append(
          end == .finished ? Frame.retry(milliseconds: retryMilliseconds) : Frame.disconnected)
        subscription = nil
      }
    }
    return frames.map(Frame.payload)
  }
}
