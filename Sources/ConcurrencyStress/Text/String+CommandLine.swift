extension String {
  /// The text on one line, without the control characters that a terminal would obey.
  var printable: String {
    var scalars = UnicodeScalarView()
    for scalar in unicodeScalars {
      scalars.append(scalar.properties.generalCategory == .control ? "\u{FFFD}" : scalar)
    }
    return String(scalars)
  }

  /// The text as one word of a command line for the shell.
  var shellWord: String {
    let isPlain = utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "a")...UInt8(ascii: "z"):
        true
      default: "_-+=./:,@%".utf8.contains(byte)
      }
    }
    return isPlain && !isEmpty ? self : "'" + replacing("'", with: "'\\''") + "'"
  }
}
