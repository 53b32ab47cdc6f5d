/// Generates a composite of the protocol: a type that conforms to it and forwards each call to many
/// delegates.
///
/// ```swift
/// @Multicast
/// @usableFromInline nonisolated protocol DownloadDelegate: AnyObject, Sendable {
///   func didFinish(_ file: String)
///   func shouldStart(_ file: String) -> Bool
/// }
///
/// let delegates = MulticastDownloadDelegate()
/// delegates.add(logger)
/// downloader.delegate = delegates
/// ```
///
/// The composite of `P` is called `MulticastP`. It has the access, the availability, the isolation
/// and the sendability of the protocol, and the members of ``MulticastComposite``. If a requirement
/// has the name of one of those, `composite.delegates` has the member too; if a requirement is
/// called `delegates`, the hub is called `delegates2`.
///
/// Requirements without an answer call every delegate in its own context, as
/// ``MulticastDelegate/invoke(_:)`` does, if the protocol is `Sendable`, and on the calling thread
/// if not. Requirements that answer, throw or suspend, or whose arguments live only as long as the
/// call, call on the calling thread. ``Answer(_:errors:calls:)`` says how the answers are combined.
///
/// A protocol that refines another one with `@Multicast` inherits its forwarding. If the other one
/// has no `@Multicast`, because it comes from another module, repeat its requirements: Swift
/// accepts that.
@attached(peer, names: prefixed(Multicast), prefixed(_DelegateOf), named(~>), named(+=))
@attached(extension, names: arbitrary)
public macro Multicast() = #externalMacro(module: "MulticastPlugin", type: "MulticastMacro")
