#if NATS
  internal import CNATS
  internal import FanOutCore
  internal import FoundationEssentials

  /// What the broker asks of its clients, in a file: other users of the machine cannot read it in
  /// the process list.
  ///
  /// Each connection reads the file, so a new file takes effect with the next connection.
  public struct RelayCredentials: Sendable {
    /// Why a file has no credentials.
    public enum Refusal: Error, Hashable {
      case unreadable(String)
      case empty(String)
      case severalLines(String)
      case byteOrderMark(String)
    }

    /// The contents of a file.
    enum Contents: Sendable {
      /// The file of an account of NATS, with a JWT and a seed.
      case account(path: String)
      case user(Secret<String>, password: Secret<String>)
      case token(Secret<String>)
    }

    private static let maxBytes = 64 << 10
    private let path: String

    /// - Parameter path: a file that `nsc` has created, or a file with one line: `user:password`,
    ///   or a token.
    public init(path: String) throws(Refusal) {
      self.path = path
      _ = try contents()
    }
  }

  extension RelayCredentials {
    /// Reads the file.
    func contents() throws(Refusal) -> Contents {
      guard let data = try? Data(contentsOf: URL(filePath: path)), data.count <= Self.maxBytes,
        let text = String(validating: data, as: UTF8.self)
      else { throw .unreadable(path) }
      // It would be a part of the user or the token.
      guard text.unicodeScalars.first != "\u{feff}" else { throw .byteOrderMark(path) }
      if text.contains("BEGIN NATS USER JWT") { return .account(path: path) }
      let lines = text.split(whereSeparator: \.isNewline)
      guard let line = lines.first else { throw .empty(path) }
      guard lines.count == 1 else { throw .severalLines(path) }
      guard let colon = line.firstIndex(of: ":") else { return .token(Secret(String(line))) }
      return .user(
        Secret(String(line[..<colon])), password: Secret(String(line[colon...].dropFirst())))
    }

    /// Sets the credentials of a connection.
    ///
    /// - Parameter options: the options of the C library.
    func set(in options: OpaquePointer?) throws(BrokerError) {
      let contents: Contents
      do {
        contents = try self.contents()
      } catch {
        throw BrokerError("\(error)")
      }
      let status =
        switch contents {
        case .account(let path): natsOptions_SetUserCredentialsFromFiles(options, path, nil)
        case .user(let user, let password):
          natsOptions_SetUserInfo(options, user.revealed, password.revealed)
        case .token(let token): natsOptions_SetToken(options, token.revealed)
        }
      // Without the details of the library, which may quote the file.
      guard status == NATS_OK else { throw BrokerError("the credentials are not valid") }
    }
  }

  extension RelayCredentials.Refusal: CustomStringConvertible {
    public var description: String {
      switch self {
      case .unreadable(let path): "cannot read '\(path)'"
      case .empty(let path): "'\(path)' has no credentials"
      case .severalLines(let path): "'\(path)' has more than one line and no JWT"
      case .byteOrderMark(let path):
        "'\(path)' begins with a byte order mark: save it as UTF-8 without one"
      }
    }
  }
#endif
