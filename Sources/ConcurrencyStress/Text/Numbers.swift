internal import Foundation

extension Int {
  /// With a comma between thousands.
  var grouped: String {
    var text = ""
    for (index, digit) in String(magnitude).reversed().enumerated() {
      if index > 0 && index.isMultiple(of: 3) { text.append(",") }
      text.append(digit)
    }
    return (self < 0 ? "-" : "") + String(text.reversed())
  }
}

extension Double {
  /// Without superfluous decimals; two digits of a number below 0.1.
  var shortened: String {
    if self == rounded() && magnitude < 1e15 { return "\(Int(self))" }
    return String(format: magnitude < 0.1 ? "%.2g" : "%.2f", self)
  }

  /// The shortest text that stands for exactly this number.
  var exact: String {
    self == rounded() && magnitude < 1e15 ? "\(Int(self))" : "\(self)"
  }
}

extension Duration {
  var seconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) + Double(attoseconds) / 1e18
  }
}
