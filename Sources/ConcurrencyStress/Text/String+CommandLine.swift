extension String {
  /// The text on one line, without the control characters that a terminal would obey.
  var printable: String {
    var scalars = UnicodeScalarView()
    for scalar in unicodeScalars {
      scalars.append(scalar.properties.generalCategory == .control ? "\u{FFFD}" : scalar)
    }
    return String(scalars)
  }
}
