internal import NIOCore

/// The place of a connection, or of a request of HTTP/2: closes it soon if it has none.
///
/// Not thread-safe: it belongs to the event loop of the connection.
final class ConnectionPlace {
  private let places: ConnectionPlaces
  /// The address when the place was taken.
  private let address: SocketAddress?
  let admission: ConnectionPlaces.Admission
  private let patience: TimeAmount
  /// Whether it is a connection that is refused, and counts as such.
  private let isRefusal: Bool
  private var deadline: Scheduled<Void>?
  private var isReleased = false

  /// Takes a place for `channel`.
  ///
  /// - Parameter patience: how long a channel without a place may wait for the end of its request,
  ///   and stay after a refusal. If too many are refused, they are closed at once.
  init(_ places: ConnectionPlaces, _ channel: any Channel, patience: TimeAmount) {
    self.places = places
    address = channel.remoteAddress
    // Nothing that a client without an address has sent is read: it would count towards no limit.
    if channel.clientHasLeft { channel.eventLoop.execute { channel.close(promise: nil) } }
    let admission = places.take(address)
    self.admission = admission
    // A request of HTTP/2 takes no connection.
    let isRefused = admission == .none && channel.socket === channel
    isRefusal = isRefused && places.beginRefusal()
    // Many of them would delay all others.
    self.patience = isRefused && !isRefusal ? .zero : patience
    expectRequest(channel)
  }

  /// A channel whose set-up fails gives its place back too.
  deinit { release() }

  /// Gives the place back. Later calls have no effect.
  func release() {
    deadline?.cancel()
    guard !isReleased else { return }
    isReleased = true
    if admission == .all { places.release(address) }
    if isRefusal { places.endRefusal() }
  }

  /// Starts the time limit, for a request or for the end of the connection.
  func expectRequest(_ channel: any Channel) {
    guard admission != .all else { return }
    deadline?.cancel()
    deadline = channel.eventLoop.scheduleTask(in: patience) { channel.close(promise: nil) }
  }

  /// Ends the time limit: from now on the client waits for the server, which may be busy.
  func requestIsComplete() { deadline?.cancel() }
}

extension Channel {
  /// Whether the client has reset the connection before the server accepted it: then the kernel
  /// does not know its address any more. A client of a Unix socket never has one.
  fileprivate var clientHasLeft: Bool {
    remoteAddress == nil && localAddress?.ipAddress != nil
  }
}
