import Foundation
import Multicast
import MulticastTestSupport
import Testing

@testable import MulticastStress

@Suite struct WatchdogTests {
  @Test func aTrialThatStandsStillIsDescribedWithTheLastStepOfEveryThread() throws {
    let options = try Options(["--threads", "2"])
    let trial = Trial(Churn.self, on: .waitFree, options, .rounds(1))
    let stalled = Gate("the watchdog")
    let description = Holder<String>(nil)
    let monitor = Monitor(stall: 0.05, interval: 0.01) {
      description.value = $0
      stalled.open()
    }
    trial.activities[0].does("invoke")
    trial.activities[1].does("cancelAndWait")
    monitor.watch(trial, done: 0, share: 1, command: "multicast-stress --seed 1")
    stalled.wait()
    let lines = description.value?.split(separator: "\n").map(String.init) ?? []
    #expect(
      lines == [
        "STUCK   churn on waitFree: no round has ended for 0.05 s",
        "  thread 0: invoke, after 1 operations",
        "  thread 1: cancelAndWait, after 1 operations",
        "  the rest: begins, after 0 operations",
        "repeat with: multicast-stress --seed 1",
      ])
  }

  @Test func standingStillEndsTheProcessWithStatus3() async throws {
    let result = try await #require(
      processExitsWith: .exitCode(3), observing: [\.standardErrorContent]
    ) {
      Monitor.endProcess("STUCK   churn")
    }
    #expect(String(decoding: result.standardErrorContent, as: UTF8.self).contains("STUCK   churn"))
  }

  @Test func aCrashSaysWhichTrialItWas() async throws {
    let result = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      CrashNotice.prepare("churn on waitFree crashed", "multicast-stress --seed 1")
      abort()
    }
    let errors = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(errors.contains("BROKEN  churn on waitFree crashed\nrepeat with: multicast-stress"))
  }
}
