internal import NIOCore

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// Writes the bytes of a stream to the socket of its connection, or to its channel.
///
/// An event needs a write for each of its streams, and the way through a channel costs more than a
/// call of the system. So what a stream writes at once goes to the socket itself, if the channel
/// has nothing to write before. What the socket does not take is for the channel: it waits until
/// the socket takes more, or finds the error.
///
/// A class, because a write or flush of the channel may call the stream, which may write again.
///
/// Not thread-safe: it belongs to the event loop of the connection.
final class StreamWriter {
  /// `nil`: everything is for the channel.
  private var socket: NIOBSDSocket.Handle?
  /// What was written since the last flush, if that was a single write: it is for the socket.
  /// `nil`: nothing was, or the channel has it.
  private var bytes: ByteBuffer?
  /// Whether the channel may have something to write.
  private var mayChannelWrite = true
  private var isFlushDue = false
}

extension StreamWriter {
  /// Uses the socket of `channel`, if it has one. No handler may change what is written.
  func useSocket(of channel: any Channel) {
    socket = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable { $0 }
  }

  func write(_ new: ByteBuffer, _ context: ChannelHandlerContext) {
    if !isFlushDue, socket != nil {
      bytes = new
    } else {
      writeToChannel(context)
      context.write(NIOAny(new), promise: nil)
    }
    isFlushDue = true
  }

  /// Writes bytes that are in one buffer and in parts. The socket gets the one buffer at once. What
  /// it does not take is for the channel in parts, which others share: a slow client keeps no copy.
  func write(
    _ joined: ByteBuffer, of parts: some Sequence<ByteBuffer>, _ context: ChannelHandlerContext
  ) {
    // The encryption makes copies in any case.
    guard socket != nil else { return write(joined, context) }
    let rest = isFlushDue ? joined : writeToSocket(joined, context.channel)
    guard let rest else { return }
    var taken = joined.readableBytes - rest.readableBytes
    for var part in parts {
      let count = min(taken, part.readableBytes)
      taken -= count
      part.moveReaderIndex(forwardBy: count)
      if part.readableBytes > 0 { write(part, context) }
    }
  }

  /// Writes what `promise` is for: the channel writes it, after everything before.
  func write(
    _ new: ByteBuffer, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>
  ) {
    writeToChannel(context)
    context.write(NIOAny(new), promise: promise)
    isFlushDue = true
  }

  /// Sends what was written since the last flush.
  func flush(_ context: ChannelHandlerContext) {
    guard isFlushDue else { return }
    isFlushDue = false
    if let bytes {
      self.bytes = writeToSocket(bytes, context.channel)
      guard self.bytes != nil else { return }
    }
    writeToChannel(context)
    context.flush()
  }

  private func writeToChannel(_ context: ChannelHandlerContext) {
    mayChannelWrite = true
    guard let bytes else { return }
    self.bytes = nil
    context.write(NIOAny(bytes), promise: nil)
  }

  /// - Returns: the bytes that the socket has not taken; `nil`: none.
  private func writeToSocket(_ bytes: ByteBuffer, _ channel: any Channel) -> ByteBuffer? {
    // The channel closes the socket on this event loop, and is not active afterwards. So the number
    // is not that of another file.
    guard let socket, channel.isActive, isFirst(channel) else { return bytes }
    // SAFETY: the call reads this memory, and keeps no pointer to it.
    let count = bytes.withUnsafeReadableBytes { writeOnce($0, to: socket) }
    guard count < bytes.readableBytes else { return nil }
    var rest = bytes
    rest.moveReaderIndex(forwardBy: max(0, count))
    return rest
  }

  /// Whether the channel has nothing to write before.
  private func isFirst(_ channel: any Channel) -> Bool {
    if mayChannelWrite {
      let buffered = try? channel.syncOptions?.getOption(.bufferedWritableBytes)
      mayChannelWrite = buffered != 0
    }
    return !mayChannelWrite
  }
}

/// - Returns: how many of `bytes` the socket has taken; negative if there is an error.
private func writeOnce(_ bytes: UnsafeRawBufferPointer, to socket: NIOBSDSocket.Handle) -> Int {
  write(socket, bytes.baseAddress, bytes.count)
}
