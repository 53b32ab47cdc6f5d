import MulticastTestSupport
import Testing

@testable import Multicast

@Suite("TopicChannel")
struct TopicChannelTests {
  private typealias Channel = TopicChannel<Int, Int>

  private func makeChannel(in table: TopicTable<Int, Int>) -> Channel {
    table.channel(of: 1) {
      Channel(1, in: table, .perSender, .waitFree, { _, _ in 0 }, DropCounter(Channel.self, nil))
    }
  }

  @Test("it closes for good, and leaves its table, with its last user")
  func lastUser() {
    let table = TopicTable<Int, Int>()
    let channel = makeChannel(in: table)
    #expect(channel.acquire() && channel.acquire())
    channel.release()
    #expect(table.count == 1)
    #expect(channel.acquire())
    channel.release()
    channel.release()
    #expect(table.count == 0)
    #expect(!channel.acquire())
  }

  @Test("a channel that was closed has no new users, and its users may leave")
  func closed() {
    let table = TopicTable<Int, Int>()
    let channel = makeChannel(in: table)
    #expect(channel.acquire())
    channel.close()
    #expect(!channel.acquire())
    channel.release()
    #expect(table.count == 1, "the thread that closed it removes it")
  }

  @Test("of threads that come and go, the last one closes it, once")
  func concurrently() {
    for _ in 0..<300 {
      let table = TopicTable<Int, Int>()
      let channel = makeChannel(in: table)
      #expect(channel.acquire())
      runThreads(3) { thread in
        for _ in 0..<10 {
          if channel.acquire() { channel.release() }
        }
        if thread == 0 { channel.release() }
      }
      #expect(table.count == 0 && !channel.acquire())
    }
  }
}
