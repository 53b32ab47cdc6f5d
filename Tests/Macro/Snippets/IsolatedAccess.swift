// Isolated protocols of every access, whose composites and operators have the same.

import Multicast
import MulticastMacros

@globalActor
public actor Library {
  public static let shared = Library()
}

@Multicast @MainActor
public protocol Listener: AnyObject {
  func hear()
}

@Multicast @Library @available(macOS 15, *)
public protocol Lending: AnyObject {
  func lend()
}

@Multicast @MainActor
public protocol Receiver<Item>: AnyObject {
  associatedtype Item: Hashable
  func receive(_ item: Item)
}

@Multicast @MainActor
internal protocol Observer: AnyObject, Sendable {
  func observe()
}

@Multicast @MainActor
fileprivate protocol Reader: AnyObject {
  func read()
}

@Multicast @MainActor
private protocol Writer: AnyObject {
  func write()
}

@MainActor
public func addListener(
  _ listener: any Listener, _ composite: MulticastListener, _ hub: MulticastDelegate<any Listener>
) {
  composite += listener
  hub += listener
  hub ~> { $0.hear() }
}

@MainActor
private func addWriter(
  _ writer: any Writer, _ composite: MulticastWriter, _ hub: MulticastDelegate<any Writer>
) {
  composite += writer
  hub += writer
  hub ~> { $0.write() }
}
