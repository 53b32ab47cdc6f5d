extension Int {
  /// The number with a noun behind it: "1 line", "2 lines".
  func counted(_ noun: String) -> String {
    self == 1 ? "1 \(noun)" : "\(self) \(noun)s"
  }
}
