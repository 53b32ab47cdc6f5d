extension Options {
  /// How long the sample is that is used when there is nothing to read.
  static let defaultSample = 10_000

  /// Opens what the events are to be read from.
  func openInput() throws -> any EventSource {
    switch input ?? defaultInput {
    case .standardInput: LineSource(.standardInput)
    case .file(let path): LineSource(try InputFile(path: path))
    case .sample(let count): SampleSource(count: count)
    }
  }

  private var defaultInput: Input {
    InputFile.standardInputHasContent ? .standardInput : .sample(Self.defaultSample)
  }
}
