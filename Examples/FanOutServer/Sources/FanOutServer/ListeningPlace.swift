internal import ArgumentParser
internal import FanOutCore
internal import NIOCore
internal import NIOPosix

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// Where the server listens, and why it cannot.
enum ListeningPlace: CustomStringConvertible {
  case port(Int, host: String)
  case unixSocket(String)

  init(_ settings: Settings) {
    self =
      settings.unixSocket.map { .unixSocket($0) } ?? .port(settings.port, host: settings.host)
  }

  var description: String {
    switch self {
    case .port(let port, let host): "\(host), port \(port)"
    case .unixSocket(let path): path
    }
  }

  /// What `error` means for a user of the server, and what helps.
  ///
  /// - Returns: `nil` if it is not an error of the attempt to listen.
  func reason(_ error: any Error) -> String? {
    switch error {
    case is UnixDomainSocketPathWrongType: "the file is not a socket: use another path"
    case let error as SocketAddressError.UnknownHost:
      "no address has this name (\(error.errorDescription)): use an address of this machine"
    case let error as IOError: reason(error.errnoCode)
    default: nil
    }
  }

  private func reason(_ code: Int32) -> String {
    let known =
      switch self {
      case .port(let port, let host): Self.reason(code, port, host)
      case .unixSocket(let path): Self.reason(code, path)
      }
    return known ?? String(cString: strerror(code))
  }

  private static func reason(_ code: Int32, _ port: Int, _ host: String) -> String? {
    switch code {
    case EADDRINUSE: "another program listens there: end it, or use another --port"
    case EACCES where port < 1024:
      "this user may not use a port below 1024: use another --port, or give the program the "
        + "capability CAP_NET_BIND_SERVICE"
    case EACCES: "this user may not use the port: use another --port"
    case EADDRNOTAVAIL:
      "this machine does not have the address: use one that it has, or --host 0.0.0.0 for all"
    case EINVAL where host.lowercased().hasPrefix("fe80:"):
      "the address needs a network interface: append '%' and its name"
    case EAFNOSUPPORT: "this machine has no addresses of this kind: use another --host"
    default: nil
    }
  }

  private static func reason(_ code: Int32, _ path: String) -> String? {
    let slash = path.lastIndex(of: "/")
    let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    return switch code {
    case EADDRINUSE: "another server listens on it"
    case ENOENT: "there is no folder '\(folder)': create it, or use another path"
    case ENOTDIR: "'\(folder)' is not a folder: use another path"
    case EACCES:
      "this user may not create files in '\(folder)': change its permissions, or use another path"
    case EPERM: "the file belongs to another user, or the folder takes no sockets: use another path"
    case EROFS: "the file system of '\(folder)' is read-only: use another path"
    default: nil
    }
  }
}

// MARK: - Options

extension ListeningPlace {
  /// The longest path of all systems, without the zero at its end.
  private static let maxPathBytes = 103

  /// - Throws: what is wrong with the path of `--unix-socket`.
  static func requireUsable(_ path: String) throws {
    guard !path.isEmpty else { throw ValidationError("--unix-socket: the path is empty") }
    guard path.utf8.count <= maxPathBytes else {
      throw ValidationError(
        "--unix-socket: the path '\(path)' has \(path.utf8.count) bytes, more than "
          + "\(maxPathBytes): use a shorter one")
    }
  }

  /// The address or name that `--host` means.
  ///
  /// - Parameter text: an IPv6 address may have the brackets that it has in a URL.
  /// - Returns: `nil` if it is neither.
  static func host(_ text: String) -> String? {
    let isBracketed = text.hasPrefix("[") && text.hasSuffix("]")
    let host = isBracketed ? String(text.dropFirst().dropLast()) : text
    if isBracketed || host.contains(":") {
      // Behind the address may be the name of a network interface.
      let address = host.prefix { $0 != "%" }
      let parsed = try? SocketAddress(ipAddress: String(address), port: 0)
      return parsed?.protocol == .inet6 ? host : nil
    }
    let isName = host.utf8.allSatisfy { $0.isASCIIAlphanumeric || "-._".utf8.contains($0) }
    return isName && !host.isEmpty ? host : nil
  }
}
