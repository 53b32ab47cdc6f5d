public import FanOutCore
public import NIOCore
internal import NIOConcurrencyHelpers
internal import NIOSSL

/// Encrypts connections with TLS 1.2 or 1.3. The certificate can be replaced while the server runs.
///
/// ## Thread safety
///
/// Any thread may use it.
public final class TLSCertificate: TransportSecurity {
  /// A certificate with the certificates of its issuers, and its key.
  public struct Value: Sendable {
    fileprivate let context: NIOSSLContext
    /// How long it is still valid; negative if it has expired.
    public let timeLeft: Duration

    /// - Parameters:
    ///   - chain: certificates in PEM, that of the server first.
    ///   - key: its private key in PEM, without a passphrase.
    public init(chain: String, key: String) throws(Refusal) {
      guard let certificates = try? NIOSSLCertificate.fromPEMBytes(Array(chain.utf8)),
        let first = certificates.first
      else { throw .certificate }
      guard let key = try? NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem) else {
        throw .key
      }
      var configuration = TLSConfiguration.makeServerConfiguration(
        certificateChain: certificates.map { .certificate($0) }, privateKey: .privateKey(key))
      configuration.minimumTLSVersion = .tlsv12
      // For the client's answer to the end of the connection.
      configuration.shutdownTimeout = .seconds(1)
      configuration.applicationProtocols = ["h2", "http/1.1"]
      guard let context = try? NIOSSLContext(configuration: configuration) else { throw .pair }
      self.context = context
      timeLeft = .seconds(Int64(first.notValidAfter) - Timestamp.secondsSince1970)
    }
  }

  /// Why texts are no certificate with its key.
  public enum Refusal: Error, Hashable {
    case certificate
    case key
    /// The key is not that of the certificate.
    case pair
  }

  private let value: NIOLockedValueBox<Value>

  public init(_ value: Value) {
    self.value = NIOLockedValueBox(value)
  }

  /// Replaces the certificate: later connections get the new one.
  public func replace(with value: Value) {
    let old = self.value.withLockedValue { current in
      defer { current = value }
      return current
    }
    // Outside of the lock, the old one is freed.
    withExtendedLifetime(old) {}
  }

  public func makeServerHandler() -> any ChannelHandler {
    NIOSSLServerHandler(context: value.withLockedValue(\.context))
  }

  /// Makes the handler of a connection to a server of this machine, for HTTP/1.1. It takes any
  /// certificate, because that of the server is for its public names.
  public static func makeLocalClientHandler() throws -> any ChannelHandler {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.certificateVerification = .none
    configuration.applicationProtocols = ["http/1.1"]
    return try NIOSSLClientHandler(
      context: NIOSSLContext(configuration: configuration), serverHostname: nil)
  }
}

extension TLSCertificate.Value {
  /// When it expires, if it has expired or will within 14 days.
  public var expiryWarning: String? { Self.expiryWarning(timeLeft) }

  package static func expiryWarning(_ timeLeft: Duration) -> String? {
    let days = timeLeft / .seconds(86_400)
    return days < 0 ? "has expired" : days < 14 ? "expires in \(Int(days)) days" : nil
  }
}

extension TLSCertificate.Refusal: CustomStringConvertible {
  public var description: String {
    switch self {
    case .certificate: "it is not a certificate in PEM"
    case .key: "it is not a private key in PEM without a passphrase"
    case .pair: "the key is not that of the certificate, or they are not for TLS"
    }
  }
}
