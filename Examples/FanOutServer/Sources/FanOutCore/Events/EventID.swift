#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The number of an event. Ids increase over all topics of a server, so that one `Last-Event-ID` is
/// valid for any topic.
///
/// A server without a relay starts at the microseconds since 1970. So ids after a restart are
/// higher than those before, and a client that reconnects with an old id gets a notice of missed
/// events. This requires that the clock was not set back, and at most a million events per second
/// on average. With a relay, ids are the sequence numbers of the broker.
public typealias EventID = UInt64

extension EventID {
  package static var microsecondsSince1970: EventID {
    EventID(Swift.max(0, Timestamp.now.timeIntervalSince1970 * 1e6))
  }
}
