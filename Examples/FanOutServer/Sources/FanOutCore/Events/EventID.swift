/// The number of an event: one increasing sequence for all topics of a server, so that one
/// `Last-Event-ID` says where a client was, whatever it listened to.
///
/// A server that assigns ids itself begins at the microseconds since 1970: after a restart, ids are
/// higher than those of the life before, and a client that comes back with one of those is told
/// that it has missed events. That needs a clock that was not set back, and no more than a million
/// events per second. With a relay, ids are the sequence numbers of the broker.
public typealias EventID = UInt64
