// For the examples that do not declare it themselves.

protocol DownloadDelegate: AnyObject, Sendable {
  func didFinish(_ file: String)
}
