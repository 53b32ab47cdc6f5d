/// Calls `report` at once, after each interval, and once more when the task is cancelled.
///
/// - Precondition: `interval` is more than zero.
package func poll<C: Clock>(
  every interval: Duration, on clock: C, isolation: isolated (any Actor)?, _ report: () -> Void
) async where C.Duration == Duration {
  precondition(interval > .zero, "an interval of \(interval) never passes; use more than zero.")
  while !Task.isCancelled {
    report()
    try? await clock.sleep(for: interval)
  }
  report()
}
