import FanOutTLS
import Foundation
import NIOSSL

/// A certificate for `localhost` that has signed itself, with its key. Made with:
///
///     openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
///       -subj /CN=localhost -addext subjectAltName=DNS:localhost
struct TestCertificate {
  let chain: String
  let key: String

  /// Valid until 2126.
  static let first = TestCertificate(
    chain: """
      -----BEGIN CERTIFICATE-----
      MIIBlTCCATugAwIBAgIUPii8ZTQWsuL77T990K6nZ6LNHGcwCgYIKoZIzj0EAwIw
      FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMzExNDA1N1oYDzIxMjYxMDMw
      MTE0MDU3WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
      PQMBBwNCAAQ8IP3ms+iLCBHUUHdEGqzMhORXn5y7eiMQKV+xoT3Z7GdXzE7ZW/e7
      MkDGalj920dMlyYLu3TSeAaLwvsuN5NPo2kwZzAdBgNVHQ4EFgQU1QCJXexzDMVi
      ObL8Hkk6zVmkPOIwHwYDVR0jBBgwFoAU1QCJXexzDMViObL8Hkk6zVmkPOIwDwYD
      VR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglsb2NhbGhvc3QwCgYIKoZIzj0EAwID
      SAAwRQIgRygFz/vHa4jfFsaWDZjI4qX2697NUk0cNMtd4c7ebRECIQCfFH24gk6i
      Gtv+tIq0VVBjwZhraraR/yLqvvqn3D6O8w==
      -----END CERTIFICATE-----
      """,
    key: """
      -----BEGIN PRIVATE KEY-----
      MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQga5DvBg4X05hCtrUV
      WjDlodpUJMmKfWQu355xlvUgGrehRANCAAQ8IP3ms+iLCBHUUHdEGqzMhORXn5y7
      eiMQKV+xoT3Z7GdXzE7ZW/e7MkDGalj920dMlyYLu3TSeAaLwvsuN5NP
      -----END PRIVATE KEY-----
      """)

  /// Valid until 2126.
  static let second = TestCertificate(
    chain: """
      -----BEGIN CERTIFICATE-----
      MIIBlTCCATugAwIBAgIUIE4A7k1Phfg7EvbffvjO+sHZbQ8wCgYIKoZIzj0EAwIw
      FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMzExNDA1N1oYDzIxMjYxMDMw
      MTE0MDU3WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
      PQMBBwNCAAT5WrslGuLOdxOJg8HbleVaOGHny/wQx5JdTpm1NWLraMyqnHODqP+l
      kbWihMKX+1bq7mdkR3F8y/GlKrxxWTsno2kwZzAdBgNVHQ4EFgQUJvouxViTNL9k
      qb3N2a67PpRhJVswHwYDVR0jBBgwFoAUJvouxViTNL9kqb3N2a67PpRhJVswDwYD
      VR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglsb2NhbGhvc3QwCgYIKoZIzj0EAwID
      SAAwRQIgVW8577ujmpELnGDAi+L0W+iVXFEJFsishASRGZ2fs48CIQDNZrfOoFvL
      PLjE2PGYsJQIy3nq8SD1hR6ONPP1U7LLHA==
      -----END CERTIFICATE-----
      """,
    key: """
      -----BEGIN PRIVATE KEY-----
      MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgGJ+NZ9UHbggD2hgO
      a+0mWXblgo/qBVFmmNz3RYnZc3ahRANCAAT5WrslGuLOdxOJg8HbleVaOGHny/wQ
      x5JdTpm1NWLraMyqnHODqP+lkbWihMKX+1bq7mdkR3F8y/GlKrxxWTsn
      -----END PRIVATE KEY-----
      """)

  /// Valid until 2020.
  static let expired = TestCertificate(
    chain: """
      -----BEGIN CERTIFICATE-----
      MIIBkzCCATmgAwIBAgIUTOgHDfY39Z91z/Z5oYV9keiHNa4wCgYIKoZIzj0EAwIw
      FDESMBAGA1UEAwwJbG9jYWxob3N0MB4XDTIwMDEwMTAwMDAwMFoXDTIwMTIzMTAw
      MDAwMFowFDESMBAGA1UEAwwJbG9jYWxob3N0MFkwEwYHKoZIzj0CAQYIKoZIzj0D
      AQcDQgAEX7syFsbioBpZh1xk2m3gNswQCx2ZDtN10H7eTbKk4YHIXw/UlNVeJ4QN
      +jCx85gCVNuJaGYTZYw4d4t+RxsKCKNpMGcwHQYDVR0OBBYEFGl29aXgPjX24Rbq
      TqWypwvtYRXkMB8GA1UdIwQYMBaAFGl29aXgPjX24RbqTqWypwvtYRXkMA8GA1Ud
      EwEB/wQFMAMBAf8wFAYDVR0RBA0wC4IJbG9jYWxob3N0MAoGCCqGSM49BAMCA0gA
      MEUCIEhTXrxI4hqlh4hB7Xu8g0XU5X23vwVvydVxpdRjtOixAiEAv4bMTODTLxlB
      NbGsQYoMy9AqER0C8v52TZ1aumEnldk=
      -----END CERTIFICATE-----
      """,
    key: """
      -----BEGIN PRIVATE KEY-----
      MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgs/GFimOAWSVc8GKJ
      I5jg0VRUcJgxbTZNb6LmP0iCEL2hRANCAARfuzIWxuKgGlmHXGTabeA2zBALHZkO
      03XQft5NsqThgchfD9SU1V4nhA36MLHzmAJU24loZhNljDh3i35HGwoI
      -----END PRIVATE KEY-----
      """)

  var value: TLSCertificate.Value {
    get throws { try TLSCertificate.Value(chain: chain, key: key) }
  }

  /// A client that trusts only this certificate.
  var clientConfiguration: TLSConfiguration {
    get throws {
      var configuration = TLSConfiguration.makeClientConfiguration()
      configuration.trustRoots = .certificates(
        try NIOSSLCertificate.fromPEMBytes(Array(chain.utf8)))
      return configuration
    }
  }

  /// Writes both into files.
  ///
  /// - Returns: the options of the server that name them.
  @discardableResult
  func write(into folder: TemporaryFolder) throws -> [String] {
    let files = (folder.path("certificate"), folder.path("key"))
    try chain.write(toFile: files.0, atomically: true, encoding: .utf8)
    try key.write(toFile: files.1, atomically: true, encoding: .utf8)
    return ["--tls-certificate", files.0, "--tls-key", files.1]
  }
}
