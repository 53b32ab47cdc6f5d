#if NATS
  import Testing

  @testable import NATSRelay

  /// How a shutdown waits for publications.
  @Suite(.timeLimit(.minutes(5))) struct PublicationsTests {
    private let publications = Publications()

    @Test func itWaitsForTheLastOneAndKnowsTheHighestID() async {
      for _ in 1...3 { #expect(publications.begin()) }
      publications.end(7)
      async let last = publications.finish(within: .seconds(3600))
      // When `begin` fails, `finish` is waiting.
      while publications.begin() {
        publications.end(nil)
        await Task.yield()
      }
      publications.end(nil)
      publications.end(5)
      #expect(await last == 7)
      #expect(!publications.isAbandoned)
    }

    @Test func itDoesNotWaitIfNoneIsInProgress() async {
      #expect(publications.begin())
      publications.end(3)
      #expect(await publications.finish(within: .seconds(3600)) == 3)
      #expect(!publications.begin())
    }

    @Test(arguments: [Duration.zero, .milliseconds(1)])
    func itWaitsNoLongerThanAllowed(_ limit: Duration) async {
      #expect(publications.begin())
      #expect(!publications.isAbandoned)
      #expect(await publications.finish(within: limit) == 0)
      #expect(publications.isAbandoned)
      publications.end(9)
    }
  }
#endif
