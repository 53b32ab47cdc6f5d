// Protocols in types and extensions, whose access those limit or set.

import Multicast
import MulticastMacros

enum Internal {
  @Multicast
  public protocol Listener: AnyObject {
    func hear(_ text: String)
  }

  @Multicast @MainActor
  public protocol View: AnyObject {
    func show(_ text: String)
  }

  @Multicast @MainActor
  fileprivate protocol Cell: AnyObject {
    func show(_ text: String)
  }
}

private enum Hidden {
  @Multicast
  public protocol Listener: AnyObject {
    func hear(_ text: String)
  }

  @Multicast
  protocol Refinement: Listener {
    func listen()
  }
}

@usableFromInline
@available(macOS 15, *)
internal enum Usable {
  @Multicast
  package protocol Listener: AnyObject {
    func hear(_ text: String)
  }
}

public final class Public {
  @Multicast
  public protocol Listener: AnyObject {
    func hear(_ text: String)
  }
}

public extension Public {
  @Multicast
  protocol Speaker: AnyObject {
    func speak()
  }

  @Multicast
  internal protocol Observer: AnyObject {
    func observe()
  }
}

private extension Public {
  @Multicast
  protocol Reader: AnyObject {
    func read()
  }
}

public func listen(_ listener: any Public.Listener, _ speaker: any Public.Speaker) {
  Public.MulticastListener([listener]).hear("")
  Public.MulticastSpeaker([speaker]).speak()
}

private func hear(_ listener: any Hidden.Refinement) {
  let composite = Hidden.MulticastRefinement([listener])
  composite.hear("")
  composite.listen()
}
