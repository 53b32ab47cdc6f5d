/// The version of the server.
enum Version {
  static let current = "0.1.0"
}
