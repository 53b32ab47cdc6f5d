internal import NIOCore

/// An event of a topic, encoded for its subscribers.
///
/// A class, so that a thousand buffers share one object.
public final class Event: Sendable {
  public let id: EventID
  public let topic: Topic
  /// The bytes for the connection, shared by all subscribers; see ``Frame``.
  let frame: ByteBuffer

  public init(id: EventID, topic: Topic, message: Message) {
    self.id = id
    self.topic = topic
    frame = Frame.event(
      id: id, type: message.type, retryMilliseconds: message.retryMilliseconds, data: message.data)
  }
}
