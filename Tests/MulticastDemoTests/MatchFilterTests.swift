import Testing

@testable import MulticastDemo

@Suite struct MatchFilterTests {
  @Test func matchesAreWrittenAsTheyCame() throws {
    let folder = try TemporaryFolder()
    let filter = MatchFilter("x", writingTo: try OutputFile(path: folder.path("out")))
    try filter.didReceive(Event([0xFF, 0x78, 0x0D][...]))
    try filter.didReceive(Event("no"))
    let summary = try filter.didFinish()
    #expect(summary.received == 2)
    #expect(summary.details == ["1 matched"])
    #expect(try folder.read("out") == [0xFF, 0x78, 0x0D, 0x0A])
  }

  @Test func matchesAreCountedWithoutAFile() throws {
    let filter = MatchFilter("x")
    try filter.didReceive(Event("x"))
    #expect(try filter.didFinish().details == ["1 matched"])
  }

  #if os(Linux)
    @Test func aFullDiskIsToldAtTheEnd() throws {
      let filter = MatchFilter("x", writingTo: try OutputFile(path: "/dev/full"))
      try filter.didReceive(Event("x"))
      #expect(throws: DemoError.failure("cannot write /dev/full: No space left on device")) {
        try filter.didFinish()
      }
    }

    @Test func aFullDiskIsToldWhenTheBufferIsFull() throws {
      let filter = MatchFilter("x", writingTo: try OutputFile(path: "/dev/full"))
      let line = Event(String(repeating: "x", count: 1000))
      #expect(throws: DemoError.self) { for _ in 0..<100 { try filter.didReceive(line) } }
    }
  #endif
}
