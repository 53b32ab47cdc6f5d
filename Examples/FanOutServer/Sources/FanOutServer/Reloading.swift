internal import ArgumentParser
internal import FanOutCore
internal import FanOutTLS
internal import Logging
internal import ServiceLifecycle
internal import UnixSignals

/// Reads the files of tokens, and of TLS, again, and opens the access log again, at each SIGHUP.
struct Reloading: Service {
  private let signals: UnixSignalsSequence
  private let settings: Settings
  private let options: Options
  private let tls: TLSOptions
  private let certificate: TLSCertificate?

  init(
    _ signals: UnixSignalsSequence, _ settings: Settings, _ options: Options, _ tls: TLSOptions,
    _ certificate: TLSCertificate?
  ) {
    self.signals = signals
    self.settings = settings
    self.options = options
    self.tls = tls
    self.certificate = certificate
  }

  func run() async throws {
    for await _ in signals.cancelOnGracefulShutdown() { await reload() }
  }

  /// Takes all files, or none: after an error the old tokens and the old certificate stay.
  private func reload() async {
    if settings.accessLog?.reopen() == false {
      settings.logger.error("SIGHUP: the access log cannot be opened again")
    }
    do {
      let tokens = try await options.tokens()
      if let value = try tls.certificate(settings.logger) { certificate?.replace(with: value) }
      settings.tokens.replace(with: tokens)
      settings.logger.notice("read the files of tokens and certificates again")
    } catch {
      let reason = FanOutServer.message(for: error)
      settings.logger.error("SIGHUP: the old tokens stay valid, and the old certificate: \(reason)")
    }
  }
}
