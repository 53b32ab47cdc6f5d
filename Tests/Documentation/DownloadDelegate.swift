// For examples that do not declare it.

protocol DownloadDelegate: AnyObject, Sendable {
  func didFinish(_ file: String)
}
