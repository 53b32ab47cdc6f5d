#if NATS
  internal import CNATS
  internal import FanOutCore
  internal import FoundationEssentials
  internal import Multicast
  internal import NIOCore

  /// One connection to the broker. It does not reconnect: after an error the relay opens a new one.
  ///
  /// All functions block. Call them on threads of a `NIOThreadPool`, never on those of Swift's
  /// tasks or of event loops. There are no callbacks from the C library.
  final class Session {
    private let subjects: Subjects
    private let streamBytes: Int64
    private let connection: OpaquePointer
    private let context: OpaquePointer
    /// Used only on the reading thread.
    private var subscription: OpaquePointer?

    init(
      _ url: Secret<String>, prefix: String, credentials: RelayCredentials? = nil,
      streamBytes: Int64 = 1 << 30
    ) throws(BrokerError) {
      subjects = Subjects(prefix: prefix)
      self.streamBytes = streamBytes
      connection = try Self.connect(url, credentials)
      var context: OpaquePointer?
      var options = jsOptions()
      jsOptions_Init(&options)
      options.Wait = Limits.answer.milliseconds
      let status = natsConnection_JetStream(&context, connection, &options)
      guard status == NATS_OK, let context else {
        natsConnection_Destroy(connection)
        throw BrokerError(status)
      }
      self.context = context
    }

    deinit {
      // SAFETY: this object owns the pointers. The library counts the references of its objects.
      natsSubscription_Destroy(subscription)
      jsCtx_Destroy(context)
      natsConnection_Destroy(connection)
    }

    private static func connect(
      _ url: Secret<String>, _ credentials: RelayCredentials?
    ) throws(BrokerError) -> OpaquePointer {
      var options: OpaquePointer?
      try BrokerError.check(natsOptions_Create(&options))
      defer { natsOptions_Destroy(options) }
      let urlStatus = natsOptions_SetURL(options, url.revealed)
      guard urlStatus == NATS_OK else { throw BrokerError(urlStatus, with: url) }
      try credentials?.set(in: options)
      try BrokerError.check(natsOptions_SetName(options, "fan-out-server"))
      try BrokerError.check(natsOptions_SetAllowReconnect(options, false))
      try BrokerError.check(natsOptions_SetTimeout(options, Limits.answer.milliseconds))
      // A blocked write holds the lock of the connection, on which other threads wait.
      try BrokerError.check(natsOptions_SetWriteDeadline(options, Limits.answer.milliseconds))
      try BrokerError.check(natsOptions_SetPingInterval(options, Limits.pingMilliseconds))
      try BrokerError.check(natsOptions_SetMaxPingsOut(options, 2))
      var connection: OpaquePointer?
      let status = natsConnection_Connect(&connection, options)
      guard status == NATS_OK, let connection else {
        throw BrokerError(status, with: url, hasCredentials: credentials != nil)
      }
      return connection
    }

    /// Closes the connection. Blocked calls fail.
    func close() {
      natsConnection_Close(connection)
    }
  }

  // SAFETY: the pointers of connection and context do not change, and the library locks its
  // objects. Only the reading thread uses the subscription. No pointer of C is Sendable, so a lock
  // for the subscription would leave the other two unchecked.
  extension Session: @unchecked Sendable {}

  // MARK: - The stream

  extension Session {
    /// Reads the state of the stream. Creates the stream if it does not exist.
    ///
    /// - Parameter withDeleted: whether to ask for the numbers of the messages that left between
    ///   others.
    func stream(withDeleted: Bool = false) throws(BrokerError) -> StreamState {
      var info: UnsafeMutablePointer<jsStreamInfo>?
      var code = jsErrCode(0)
      var options = jsOptions()
      jsOptions_Init(&options)
      options.Stream.Info.DeletedDetails = withDeleted
      var status = js_GetStreamInfo(&info, context, subjects.prefix, &options, &code)
      if status == NATS_NOT_FOUND || code == JSStreamNotFoundErr {
        code = jsErrCode(0)
        status = create(&info, &code)
        do throws(BrokerError) { try check(status, code) } catch { throw cannotCreate(error) }
      } else {
        try check(status, code)
      }
      defer { jsStreamInfo_Destroy(info) }
      guard let info = info?.pointee, info.Config.pointee.AllowDirect else {
        throw BrokerError(
          "the stream '\(subjects.prefix)' does not allow direct access", isOfStream: true)
      }
      // A message of another subject would look like a missing event.
      guard info.Config.pointee.SubjectsLen == 1,
        let subject = info.Config.pointee.Subjects[0], String(cString: subject) == subjects.all
      else {
        throw BrokerError(
          "the stream '\(subjects.prefix)' has other subjects than '\(subjects.all)'",
          isOfStream: true)
      }
      guard info.Config.pointee.Duplicates >= Limits.leastDuplicatesNanoseconds else {
        throw BrokerError(
          "the duplicate window of the stream '\(subjects.prefix)' is below 10 s", isOfStream: true)
      }
      // SAFETY: the list belongs to the information, and is copied.
      let deleted = UnsafeBufferPointer(
        start: info.State.Deleted, count: Int(info.State.DeletedLen))
      return StreamState(
        created: info.Created, first: info.State.FirstSeq, last: info.State.LastSeq,
        count: info.State.Msgs, deleted: Array(deleted))
    }

    /// Throws unless `status` is `NATS_OK`. What the broker does not permit has no response; it has
    /// told the connection so.
    private func check(
      _ status: natsStatus, _ code: jsErrCode = jsErrCode(0)
    ) throws(BrokerError) {
      var text: UnsafePointer<CChar>?
      guard status == NATS_TIMEOUT,
        // Without the text, which the next error may change at any time.
        natsConnection_GetLastError(connection, &text) == NATS_NOT_PERMITTED
      else { return try BrokerError.check(status, code) }
      throw BrokerError(
        "the broker does not permit what the relay needs of the stream '\(subjects.prefix)': "
          + "its log names the subject", isOfStream: true)
    }

    private func cannotCreate(_ error: BrokerError) -> BrokerError {
      var text = "the stream '\(subjects.prefix)' cannot be created: \(error)"
      if error.isOutOfStorage {
        text += " (it has \(streamBytes) bytes: use a smaller --relay-bytes)"
      }
      return BrokerError(text, isOfStream: true)
    }

    /// Several servers may do this at the same time: creating the same stream again is not an
    /// error.
    private func create(
      _ info: inout UnsafeMutablePointer<jsStreamInfo>?, _ code: inout jsErrCode
    ) -> natsStatus {
      subjects.prefix.withCString { name in
        subjects.all.withCString { all in
          var list: UnsafePointer<CChar>? = all
          // SAFETY: what the configuration points to outlives the call, which copies it.
          return withUnsafeMutablePointer(to: &list) { list in
            var configuration = jsStreamConfig()
            jsStreamConfig_Init(&configuration)
            configuration.Name = name
            configuration.Subjects = list
            configuration.SubjectsLen = 1
            configuration.MaxMsgs = Limits.streamEvents
            configuration.MaxBytes = streamBytes
            configuration.MaxAge = Limits.streamNanoseconds
            configuration.Duplicates = Limits.duplicatesNanoseconds
            configuration.AllowDirect = true
            return js_AddStream(&info, context, &configuration, nil, &code)
          }
        }
      }
    }
  }

  // MARK: - Publishing

  extension Session {
    /// Sends `message` to the broker, and waits until it is stored.
    ///
    /// - Parameter key: the broker does not store a second message with the same key.
    func publish(
      _ message: Message, to topic: Topic, key: String, within milliseconds: Int64
    ) throws(BrokerError) -> Stored {
      var answer: UnsafeMutablePointer<jsPubAck>?
      var code = jsErrCode(0)
      let status = key.withCString { key in
        subjects.prefix.withCString { stream in
          message.data.withUnsafeReadableBytes { bytes in
            var options = jsPubOptions()
            jsPubOptions_Init(&options)
            options.MaxWait = milliseconds
            options.MsgId = key
            options.ExpectStream = stream
            // SAFETY: strings and bytes outlive the calls, which do not keep them.
            let subject = subjects.subject(of: topic.name)
            guard message.type != nil || message.retryMilliseconds != nil else {
              return js_Publish(
                &answer, context, subject, bytes.baseAddress, Int32(bytes.count), &options, &code)
            }
            var sent: OpaquePointer?
            var status = natsMsg_Create(&sent, subject, nil, bytes.baseAddress, Int32(bytes.count))
            guard status == NATS_OK else { return status }
            defer { natsMsg_Destroy(sent) }
            if let type = message.type {
              status = natsMsgHeader_Set(sent, BrokerMessage.Field.type, type.name)
            }
            if status == NATS_OK, let retry = message.retryMilliseconds {
              status = natsMsgHeader_Set(sent, BrokerMessage.Field.retry, "\(retry)")
            }
            return status == NATS_OK
              ? js_PublishMsg(&answer, context, sent, &options, &code) : status
          }
        }
      }
      try BrokerError.check(status, code)
      defer { jsPubAck_Destroy(answer) }
      guard let answer else { throw BrokerError("the response of the broker is empty") }
      return Stored(id: answer.pointee.Sequence, isDuplicate: answer.pointee.Duplicate)
    }

    /// The acknowledgement of the broker.
    struct Stored: Sendable {
      /// The sequence number of the message.
      let id: EventID
      /// Whether the broker had a message with this key.
      let isDuplicate: Bool
    }
  }

  // MARK: - Reading

  extension Session {
    /// A message of the stream.
    struct Numbered: Sendable {
      let number: EventID
      /// `nil` if no server published it.
      let event: Event?
    }

    /// Subscribes to the stream after `id`.
    func subscribe(after id: EventID) throws(BrokerError) {
      var options = jsSubOptions()
      jsSubOptions_Init(&options)
      options.Ordered = true
      options.Config.DeliverPolicy = js_DeliverByStartSequence
      options.Config.OptStartSeq = id + 1
      var code = jsErrCode(0)
      let status = subjects.prefix.withCString { stream in
        // Otherwise the library asks the broker which stream has the subject.
        options.Stream = stream
        // SAFETY: the call does not keep the options.
        return js_SubscribeSync(&subscription, context, subjects.all, nil, &options, &code)
      }
      try check(status, code)
    }

    /// Waits briefly for a message, and then takes all available ones, up to a limit.
    func read() throws(BrokerError) -> [Numbered] {
      var batch: [Numbered] = []
      for count in 0..<Limits.batch {
        var pointer: OpaquePointer?
        let status = natsSubscription_NextMsg(
          &pointer, subscription, count == 0 ? Limits.readMilliseconds : 0)
        if status == NATS_TIMEOUT { break }
        try BrokerError.check(status)
        let message = BrokerMessage(pointer)
        let number = try message.number()
        batch.append(Numbered(number: number, event: message.event(number, subjects)))
      }
      return batch
    }

    /// The first events of topics with ids above `id`, up to `last`.
    ///
    /// - Parameters:
    ///   - names: topics and patterns.
    ///   - created: identifies the stream to which the ids belong.
    /// - Returns: those before the first one that may not be available any more; `nil`: there are
    ///   none.
    func page(
      of names: [String], after id: EventID, through last: EventID, created: Int64
    ) throws(BrokerError) -> ExternalPage<Event>? {
      var elements: [ExternalPage<Event>.Element] = []
      var through = last
      var bytes = 0
      // The next message of each topic or pattern that has one in the range.
      var heads: [(name: String, message: Fetched)] = []
      // Where each began that has no further message.
      var ends: [(name: String, first: EventID)] = []
      func readHead(of name: String, from id: EventID) throws(BrokerError) {
        guard id <= last else { return }
        guard let message = try first(of: name, from: id) else { return ends.append((name, id)) }
        let number = message.storedNumber
        guard number <= last else { return }
        let event = message.event(number, subjects)
        heads.append((name, Fetched(id: number, bytes: message.count, event: event)))
      }
      for name in names { try readHead(of: name, from: id + 1) }
      while let index = heads.indices.min(by: { heads[$0].message.id < heads[$1].message.id }) {
        let (name, message) = heads.remove(at: index)
        bytes += message.bytes
        // Another pattern may have matched the same topic.
        if let event = message.event, event.id != elements.last?.number {
          elements.append(.init(topic: event.topic.name, event: event, number: event.id))
        }
        guard elements.count < Limits.pageEvents, bytes < Limits.pageBytes else {
          through = message.id
          break
        }
        try readHead(of: name, from: message.id + 1)
      }
      // Checked afterwards: events that the stream has now were there during the reads too.
      var state = try stream()
      guard state.created == created, state.last >= last else {
        throw BrokerError("the stream was replaced or has lost events")
      }
      if 1...Limits.listedGaps ~= state.gaps { state = try stream(withDeleted: true) }
      through = try checked(through, ends)
      guard through > id else { throw BrokerError("a replica of the stream is behind") }
      guard let complete = state.complete(after: id, through: through) else { return nil }
      // Elements behind it are ignored, and the next page begins with what is missing.
      return ExternalPage(elements, through: complete)
    }

    /// Any replica answers direct gets, also one that is behind. It has the beginning of the
    /// stream: what it gives is the next message, but if it gives none, there may be one.
    ///
    /// - Parameter ends: of what a replica had no message, and from where on.
    /// - Returns: up to where that is true, at most `last`.
    private func checked(
      _ last: EventID, _ ends: [(name: String, first: EventID)]
    ) throws(BrokerError) -> EventID {
      var through = last
      for end in ends where end.first <= through {
        if let next = try leadersFirst(of: end.name, from: end.first), next <= through {
          through = next - 1
        }
      }
      return through
    }

    /// The number of the first message after `id`, as the leader of the stream has it.
    func first(after id: EventID) throws(BrokerError) -> EventID? {
      try leadersFirst(of: ">", from: id + 1)
    }

    /// The number of the first message of a topic or pattern, as the leader of the stream has it.
    private func leadersFirst(
      of name: String, from id: EventID
    ) throws(BrokerError) -> EventID? {
      let request = #"{"seq":\#(id),"next_by_subj":"\#(subjects.subject(of: name))"}"#
      var pointer: OpaquePointer?
      // The C library has no function for it.
      try check(
        natsConnection_RequestString(
          &pointer, connection, "$JS.API.STREAM.MSG.GET.\(subjects.prefix)", request,
          Limits.answer.milliseconds))
      let message = BrokerMessage(pointer)
      guard let answer = try? JSONDecoder().decode(LeadersFirst.self, from: message.bytes) else {
        throw BrokerError("the response of the broker is not valid")
      }
      if let found = answer.message { return found.seq }
      guard answer.error?.err_code == Int(JSNoMessageFoundErr.rawValue) else {
        throw BrokerError("the broker refuses to read a message")
      }
      return nil
    }

    private struct LeadersFirst: Decodable {
      struct Message: Decodable { var seq: EventID }
      struct Failure: Decodable { var err_code: Int }
      var message: Message?
      var error: Failure?
    }

    /// A message that was read for a client that reconnects.
    private struct Fetched {
      let id: EventID
      let bytes: Int
      /// `nil` if no server published it.
      let event: Event?
    }

    private func first(of name: String, from id: EventID) throws(BrokerError) -> BrokerMessage? {
      var pointer: OpaquePointer?
      let status = subjects.subject(of: name).withCString { subject in
        var options = jsDirectGetMsgOptions()
        jsDirectGetMsgOptions_Init(&options)
        options.Sequence = id
        options.NextBySubject = subject
        return js_DirectGetMsg(&pointer, context, subjects.prefix, nil, &options)
      }
      if status == NATS_NOT_FOUND { return nil }
      try check(status)
      return BrokerMessage(pointer)
    }
  }
#endif
