/// What one registry observes, or several together: those of the hubs of a hub of topics.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class HubInspection: Sendable {
  /// The name of the whole hub.
  let name: String?

  /// Warns of too many registrations of one line, if the hub has been asked to.
  let leakWatch = LazyReference<LeakWatch>()

  /// What is measured of the handlers or delegates, if the hub has been asked to.
  let timing = LazyReference<TimingPlan>()

  init(name: String?) {
    self.name = name
  }
}

extension Registry {
  /// What watches for leaks: of this registry alone, or of all that are observed together.
  var currentLeakWatch: LeakWatch? {
    guard isInspected else { return nil }  // Without a retain, except in a hub of topics.
    let extras = extras
    return extras?.inspection?.leakWatch.current
      ?? extras?.sharedInspection?.leakWatch.current
  }

  /// What is measured: of this registry alone, or of all that are observed together.
  var currentTiming: TimingPlan? {
    guard isInspected else { return nil }  // Likewise.
    let extras = extras
    return extras?.inspection?.timing.current ?? extras?.sharedInspection?.timing.current
  }

  /// The name of the whole hub, for warnings.
  var nameInWarnings: String? { name ?? extras?.sharedInspection?.name }
}
