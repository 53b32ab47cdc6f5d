// Declarations that are no protocols.

import MulticastMacros

@Multicast  // expected-error{{'@Multicast' belongs to a protocol, not to a class}}
final class Class {}

@Multicast  // expected-error{{'@Multicast' belongs to a protocol, not to a struct}}
public struct Struct {}

@Multicast  // expected-error{{'@Multicast' belongs to a protocol, not to an enum}}
enum Enum { case a }

@Multicast  // expected-error{{'@Multicast' belongs to a protocol, not to an actor}}
actor Actor2 {}
