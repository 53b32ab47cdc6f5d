#if NATS
  import FanOutCore
  import Foundation
  import Testing

  @testable import NATSRelay

  @Suite struct RelaySettingsTests {
    @Test(arguments: ["nats://localhost:4222", "nats://10.0.0.1", "tls://user:word@nats.example:1"])
    func addressesAreTaken(_ url: String) throws {
      #expect(try RelaySettings(urls: Secret(url)).urls.map(\.revealed) == [url])
      let list = Secret("\(url),nats://a,\(url)")
      #expect(try RelaySettings(urls: list).urls.map(\.revealed) == [url, "nats://a", url])
    }

    @Test(arguments: [
      "", "localhost:4222", "http://localhost", "nats://", "nats://a b", "nats://h/x",
      "nats//user:secret@h", "nats://h:0", "nats://h:65536", "nats://h?x", "nats://h#x",
    ])
    func otherAddressesAreRefused(_ url: String) throws {
      #expect(throws: RelaySettings.Refusal.url(number: 1)) {
        try RelaySettings(urls: Secret(url))
      }
      let refusal = try #require(throws: RelaySettings.Refusal.self) {
        try RelaySettings(urls: Secret("nats://a,\(url)"))
      }
      #expect(refusal == .url(number: 2))
      #expect(!refusal.description.contains("secret"))
    }

    @Test(arguments: ["user:word\n", "user:wo:rd", "token-0123", "\r\n token \r\n"])
    func credentialsAreTakenFromAFile(_ text: String) throws {
      let file = try CredentialsFile(text)
      defer { file.remove() }
      let credentials = try RelayCredentials(path: file.path)
      let parts =
        switch try credentials.contents() {
        case .account: [String]()
        case .user(let user, let password): [user.revealed, password.revealed]
        case .token(let token): [token.revealed]
        }
      #expect(parts.joined(separator: ":") == text.trimmingCharacters(in: .newlines))
      #expect(parts.count == (text.contains(":") ? 2 : 1))
      #expect(!"\(credentials)".contains("word"))
    }

    @Test(arguments: [
      ("", "' has no credentials"), ("\n\n", "' has no credentials"),
      ("a:b\nc:d", "' has more than one line and no JWT"),
      ("\u{feff}a:b\n", "' begins with a byte order mark: save it as UTF-8 without one"),
    ])
    func aFileWithoutCredentialsIsRefused(_ text: String, _ message: String) throws {
      let file = try CredentialsFile(text)
      defer { file.remove() }
      let refusal = try #require(throws: RelayCredentials.Refusal.self) {
        try RelayCredentials(path: file.path)
      }
      #expect(refusal.description == "'\(file.path)\(message)")
    }

    @Test func aFileThatCannotBeReadIsRefused() {
      #expect(throws: RelayCredentials.Refusal.unreadable("/nothing")) {
        try RelayCredentials(path: "/nothing")
      }
    }

    @Test func anAddressWithAUserNeedsNoFile() throws {
      let file = try CredentialsFile("a:b")
      defer { file.remove() }
      #expect(throws: RelaySettings.Refusal.twoCredentials(number: 2)) {
        try RelaySettings(
          urls: Secret("nats://a,nats://u:p@b"), credentials: RelayCredentials(path: file.path))
      }
    }

    @Test(arguments: ["", "a.b", "a>", "*", "a b", "ä", String(repeating: "x", count: 65)])
    func prefixesThatAreNoNamesAreRefused(_ prefix: String) {
      #expect(throws: RelaySettings.Refusal.prefix(prefix)) {
        try RelaySettings(urls: Secret("nats://localhost"), prefix: prefix)
      }
    }

    @Test(arguments: ["a", "A.b", "0-_~", "a.b.c.d"])
    func aTopicAndItsSubjectCorrespond(_ name: String) throws {
      let subjects = Subjects(prefix: "p")
      let topic = try Topic(name, limit: 9)
      #expect(subjects.subject(of: topic.name) == "p.\(name)")
      #expect(subjects.topic(of: "p.\(name)") == topic)
    }

    @Test(arguments: ["p", "p.", "q.a", "pa.b", "p.a b", "p.ä", "p.$a"])
    func otherSubjectsAreNoTopics(_ subject: String) {
      #expect(Subjects(prefix: "p").topic(of: subject) == nil)
    }

    @Test func attemptsBecomeRarer() {
      var backoff = Backoff()
      #expect(backoff.isFresh)
      let waits = (0..<8).map { _ in backoff.next() }
      #expect(waits[0] <= .milliseconds(100) && waits[0] >= .milliseconds(50))
      #expect(waits[7] <= .milliseconds(800) && waits[7] >= .milliseconds(400))
      #expect(!backoff.isFresh)
    }

    @Test func aFailureIsNewAtFirstAndIfItIsOfAnotherKind() {
      var outage = Outage()
      // All addresses of the first attempt.
      var answers = [false, true, false].map { outage.isNew(isOfStream: $0) }
      #expect(answers == [true, true, true])
      _ = outage.backoff.next()
      answers = [false, true].map { outage.isNew(isOfStream: $0) }
      #expect(answers == [false, false])
      outage = Outage()
      answers = [outage.isNew(isOfStream: false)]
      _ = outage.backoff.next()
      answers += [false, true, true].map { outage.isNew(isOfStream: $0) }
      #expect(answers == [true, false, true, false])
    }
  }
#endif
