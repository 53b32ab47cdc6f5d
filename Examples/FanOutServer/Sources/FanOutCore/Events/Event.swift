internal import NIOCore

/// An event of a topic, in the form in which it goes to its subscribers.
///
/// A class, so that a thousand buffers share one.
public final class Event: Sendable {
  public let id: EventID
  public let topic: Topic
  /// The bytes for the connection; see ``Frame``. All subscribers write the same ones.
  let frame: ByteBuffer

  public init(id: EventID, topic: Topic, message: Message) {
    self.id = id
    self.topic = topic
    frame = Frame.event(id: id, data: message.data)
  }
}
