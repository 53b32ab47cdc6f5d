internal import ArgumentParser
internal import FanOutCore
internal import Logging
internal import ServiceLifecycle
internal import UnixSignals

/// Reads the token files again, and opens the access log again, at each SIGHUP.
struct Reloading: Service {
  private let signals: UnixSignalsSequence
  private let settings: Settings
  private let options: Options

  init(_ signals: UnixSignalsSequence, _ settings: Settings, _ options: Options) {
    self.signals = signals
    self.settings = settings
    self.options = options
  }

  func run() async throws {
    for await _ in signals.cancelOnGracefulShutdown() { await reload() }
  }

  /// Takes all files, or none: after an error the old tokens stay valid.
  private func reload() async {
    if settings.accessLog?.reopen() == false {
      settings.logger.error("SIGHUP: the access log cannot be opened again")
    }
    do {
      settings.tokens.replace(with: try await options.tokens())
      settings.logger.notice("read the token files again")
    } catch {
      let reason = FanOutServer.message(for: error)
      settings.logger.error("SIGHUP: the old tokens stay valid: \(reason)")
    }
  }
}
