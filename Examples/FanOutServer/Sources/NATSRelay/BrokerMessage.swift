#if NATS
  internal import CNATS
  internal import FanOutCore
  internal import FoundationEssentials
  internal import NIOCore

  /// A message from the broker, which owns its memory.
  struct BrokerMessage: ~Copyable {
    private let pointer: OpaquePointer?

    init(_ pointer: OpaquePointer?) {
      self.pointer = pointer
    }

    deinit { natsMsg_Destroy(pointer) }
  }

  extension BrokerMessage {
    /// The sequence number of a message from a subscription.
    func number() throws(BrokerError) -> EventID {
      var data: UnsafeMutablePointer<jsMsgMetaData>?
      try BrokerError.check(natsMsg_GetMetaData(&data, pointer))
      defer { jsMsgMetaData_Destroy(data) }
      guard let data else { throw BrokerError("a message has no sequence number") }
      return data.pointee.Sequence.Stream
    }

    /// The sequence number of a message from a direct get.
    var storedNumber: EventID { natsMsg_GetSequence(pointer) }

    /// The number of bytes.
    var count: Int { Int(natsMsg_GetDataLength(pointer)) }

    /// A copy of the data.
    var bytes: Data { natsMsg_GetData(pointer).map { Data(bytes: $0, count: count) } ?? Data() }

    /// - Returns: `nil` if the subject is not one of a topic, or if the data is not UTF-8: then no
    ///   server published it.
    func event(_ id: EventID, _ subjects: Subjects) -> Event? {
      // SAFETY: subject and data belong to the message, which outlives this call; both are copied.
      guard let subject = natsMsg_GetSubject(pointer),
        let topic = subjects.topic(of: String(cString: subject))
      else { return nil }
      let bytes = UnsafeRawBufferPointer(start: natsMsg_GetData(pointer), count: count)
      let message = Message(
        ByteBuffer(bytes: bytes), type: field(Field.type).flatMap { EventType($0) },
        retryMilliseconds: field(Field.retry).flatMap { Int($0) }
          .flatMap { Message.retryRange.contains($0) ? $0 : nil })
      return message.map { Event(id: id, topic: topic, message: $0) }
    }

    /// The value of a header field; `nil` if there is none.
    private func field(_ name: String) -> String? {
      var value: UnsafePointer<CChar>?
      guard natsMsgHeader_Get(pointer, name, &value) == NATS_OK, let value else { return nil }
      // SAFETY: the string belongs to the message, and is copied.
      return String(cString: value)
    }

    /// Header fields of messages, for what is not in the data.
    enum Field {
      static let type = "Fanout-Event"
      static let retry = "Fanout-Retry"
    }
  }
#endif
