import Testing

@testable import MulticastDemo

@Suite struct OptionsTests {
  @Test func noArgumentsMeanTheDefaults() throws {
    let options = try Options([])
    #expect(options == Options())
    #expect(options.input == nil)
    #expect(options.keyField == 1)
    #expect(options.threads == 4)
  }

  @Test func everyOptionIsRead() throws {
    let options = try Options([
      "--input", "a.log", "--key", "3", "--top", "0", "--match", " 500 ", "--output", "b.log",
      "--threads", "64",
    ])
    #expect(options.input == .file("a.log"))
    #expect(options.keyField == 3)
    #expect(options.top == 0)
    #expect(options.match == " 500 ")
    #expect(options.output == "b.log")
    #expect(options.threads == 64)
  }

  @Test func aValueMayFollowAnEqualsSign() throws {
    #expect(try Options(["--key=7"]).keyField == 7)
    #expect(try Options(["--match=a=b"]).match == "a=b")
  }

  @Test func aDashIsStandardInput() throws {
    #expect(try Options(["--input", "-"]).input == .standardInput)
  }

  @Test func theSampleHasALength() throws {
    #expect(try Options(["--sample", "12"]).input == .sample(12))
  }

  @Test(arguments: ["--help", "-h"])
  func helpIsAskedForInTwoWays(_ argument: String) throws {
    #expect(try Options([argument]).wantsHelp)
  }

  @Test(arguments: [
    ["--nonsense"], ["-x"], ["file.log"], ["--help=1"], ["--key"], ["--key="], ["--input"],
    ["--key", "0"], ["--key", "-1"], ["--key", "1001"], ["--key", "two"], ["--key", "1.5"],
    ["--key", "99999999999999999999"], ["--top", "-1"], ["--threads", "0"], ["--threads", "65"],
    ["--sample", "-1"], ["--sample", "many"], ["--match", ""], ["--output", "b.log"],
    ["--input", "a", "--input", "b"], ["--input", "a", "--sample", "1"],
  ])
  func unusableArgumentsAreRefused(_ arguments: [String]) throws {
    let error = try #require(throws: DemoError.self) { try Options(arguments) }
    #expect(error.status == 2)
    #expect(error.message.contains("--help"))
  }
}
