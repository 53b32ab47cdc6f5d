internal import ArgumentParser
internal import FanOutTLS
internal import Logging

/// The options of TLS.
struct TLSOptions: ParsableArguments {
  @Option(
    help: """
      File with the certificate of the server and those of its issuers, in PEM: for connections with \
      TLS, and HTTP/2. SIGHUP reads it again.
      """)
  var tlsCertificate: String?
  @Option(help: "File with the private key of the certificate, in PEM. SIGHUP reads it again.")
  var tlsKey: String?
}

extension TLSOptions {
  func validate() throws {
    guard (tlsCertificate == nil) == (tlsKey == nil) else {
      throw ValidationError("--tls-certificate and --tls-key: the other one is missing")
    }
  }

  /// Reads the files; `nil` without the options.
  func certificate(_ logger: Logger) throws -> TLSCertificate.Value? {
    guard let tlsCertificate, let tlsKey else { return nil }
    let chain = try TextFile.read(tlsCertificate, "--tls-certificate")
    let key = try TextFile.read(tlsKey, "--tls-key")
    let value: TLSCertificate.Value
    do {
      value = try TLSCertificate.Value(chain: chain, key: key)
    } catch .certificate {
      throw ValidationError(
        "--tls-certificate: '\(tlsCertificate)': \(TLSCertificate.Refusal.certificate)")
    } catch {
      throw ValidationError("--tls-key: '\(tlsKey)': \(error)")
    }
    if let expiry = value.expiryWarning {
      logger.warning("--tls-certificate: '\(tlsCertificate)' \(expiry)")
    }
    return value
  }
}
