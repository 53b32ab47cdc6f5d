public import Logging
public import Multicast

/// A hub that warns of leaks: every hub of Multicast.
///
/// ## Thread safety
/// Every operation may be called from any thread.
public protocol LeakWarningHub {
  /// Calls `handler` once for each line with more than `limit` registrations at once.
  ///
  /// - Parameters:
  ///   - limit: the most registrations of one line that are no leak.
  ///   - handler: called by the thread that registers.
  func warnOfLeaks(above limit: Int, _ handler: @escaping @Sendable (LeakWarning) -> Void)
}

/// A hub that measures its handlers.
///
/// ## Thread safety
/// Every operation may be called from any thread.
public protocol HandlerMeasuringHub {
  /// Measures how long the handlers of subscriptions that are made from now on take.
  ///
  /// - Parameters:
  ///   - interval: how many calls there are for each that is measured.
  ///   - limit: the longest call that is not slow.
  ///   - onSlow: called after a measured call that was slow.
  func measureHandlers(
    sampling interval: Int, slowerThan limit: Duration,
    _ onSlow: (@Sendable (SlowHandlerWarning) -> Void)?)
}

/// A hub that measures its delegates.
///
/// ## Thread safety
/// Every operation may be called from any thread.
public protocol DelegateMeasuringHub {
  /// Measures how long the calls of delegates that are added from now on take.
  ///
  /// - Parameters:
  ///   - interval: how many calls there are for each that is measured.
  ///   - limit: the longest call that is not slow.
  ///   - onSlow: called after a measured call that was slow.
  func measureDelegates(
    sampling interval: Int, slowerThan limit: Duration,
    _ onSlow: (@Sendable (SlowHandlerWarning) -> Void)?)
}

extension EventHub: LeakWarningHub, HandlerMeasuringHub {}
extension StateHub: LeakWarningHub, HandlerMeasuringHub {}
extension TopicHub: LeakWarningHub, HandlerMeasuringHub {}
extension MulticastDelegate: LeakWarningHub, DelegateMeasuringHub {}
extension MulticastActor: LeakWarningHub, DelegateMeasuringHub {}

extension LeakWarningHub {
  /// Logs once for each line of the program of which more than `limit` registrations exist at once:
  /// perhaps a leak. See `EventHub.warnOfLeaks(above:_:)`.
  ///
  /// - Parameters:
  ///   - limit: the most registrations of one line that are no leak.
  ///   - logger: logs the warning, on the thread that registers.
  /// - Precondition: `limit` is at least 1, and the hub does not warn of leaks already.
  public func warnOfLeaks(above limit: Int = 100, to logger: Logger) {
    warnOfLeaks(above: limit) { logger.log($0) }
  }
}

extension HandlerMeasuringHub {
  /// Measures the handlers of subscriptions that are made from now on, and logs slow calls. See
  /// `EventHub.measureHandlers(sampling:slowerThan:_:)`.
  ///
  /// - Parameters:
  ///   - interval: how many calls there are for each that is measured.
  ///   - limit: the longest call that is not slow.
  ///   - logger: logs the warning, where the handler was called.
  /// - Precondition: `interval` is at least 1, and the hub does not measure already.
  public func measureHandlers(
    sampling interval: Int = 64, slowerThan limit: Duration = .seconds(1), to logger: Logger
  ) {
    measureHandlers(sampling: interval, slowerThan: limit) { logger.log($0) }
  }
}

extension DelegateMeasuringHub {
  /// Measures the calls of delegates that are added from now on, and logs slow ones. See
  /// `MulticastDelegate.measureDelegates(sampling:slowerThan:_:)`.
  ///
  /// - Parameters:
  ///   - interval: how many calls there are for each that is measured.
  ///   - limit: the longest call that is not slow.
  ///   - logger: logs the warning, where the delegate was called.
  /// - Precondition: `interval` is at least 1, and the hub does not measure already.
  public func measureDelegates(
    sampling interval: Int = 64, slowerThan limit: Duration = .seconds(1), to logger: Logger
  ) {
    measureDelegates(sampling: interval, slowerThan: limit) { logger.log($0) }
  }
}
