#if NATS
  internal import CNATS
  internal import FanOutCore
  internal import NIOCore

  /// A message from the broker, which is freed when it goes out of scope.
  struct BrokerMessage: ~Copyable {
    private let pointer: OpaquePointer?

    init(_ pointer: OpaquePointer?) {
      self.pointer = pointer
    }

    deinit { natsMsg_Destroy(pointer) }
  }

  extension BrokerMessage {
    /// The number in the stream, of a message that came through a subscription.
    func number() throws(BrokerError) -> EventID {
      var data: UnsafeMutablePointer<jsMsgMetaData>?
      try BrokerError.check(natsMsg_GetMetaData(&data, pointer))
      defer { jsMsgMetaData_Destroy(data) }
      guard let data else { throw BrokerError("a message has no number") }
      return data.pointee.Sequence.Stream
    }

    /// The number in the stream, of a message that was asked for by its number.
    var storedNumber: EventID { natsMsg_GetSequence(pointer) }

    /// How many bytes it has.
    var count: Int { Int(natsMsg_GetDataLength(pointer)) }

    /// - Returns: `nil` if no server published it: its subject is no topic's, or it is no text.
    func event(_ id: EventID, _ subjects: Subjects) -> Event? {
      // SAFETY: subject and data belong to the message, which is there; both are copied.
      guard let subject = natsMsg_GetSubject(pointer),
        let topic = subjects.topic(of: String(cString: subject))
      else { return nil }
      let bytes = UnsafeRawBufferPointer(start: natsMsg_GetData(pointer), count: count)
      return Message(ByteBuffer(bytes: bytes)).map { Event(id: id, topic: topic, message: $0) }
    }
  }
#endif
