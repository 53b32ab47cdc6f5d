// Declarations that are no protocols.

import MulticastMacros

// expected-error{{'@Multicast' belongs to a protocol, not to a class}}
@Multicast
final class Class {}

// expected-error{{'@Multicast' belongs to a protocol, not to a struct}}
@Multicast
public struct Struct {}

// expected-error{{'@Multicast' belongs to a protocol, not to an enum}}
@Multicast
enum Enum { case a }

// expected-error{{'@Multicast' belongs to a protocol, not to an actor}}
@Multicast
actor Actor2 {}

enum Namespace {
  @Multicast
  // expected-error{{does not see a 'private' protocol in a type: make it 'fileprivate'}}
  private protocol Listener: AnyObject {
    func hear()
  }
}
