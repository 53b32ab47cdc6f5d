import NIOCore
import NIOEmbedded
import NIOHTTP2
import Testing

@testable import FanOutCore

@Suite struct HTTP2DataTests {
  private typealias Payload = HTTP2Frame.FramePayload

  /// Notes what passes.
  private final class Notes: ChannelInboundHandler {
    typealias InboundIn = Payload

    var texts: [String] = []

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      if case .data = unwrapInboundIn(data) { texts.append("data") } else { texts.append("other") }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      if event is HTTP2Data.Progress { texts.append("progress") }
    }
  }

  @Test func onlyAnEmptyBufferEndsTheStream() throws {
    let channel = EmbeddedChannel(handler: HTTP2Data())
    for text in ["one", "two", ""] {
      try channel.writeOutbound(ByteBuffer(string: text))
      guard case .data(let data)? = try channel.readOutbound(as: Payload.self) else {
        Issue.record("there is no data")
        return
      }
      #expect(data.data == .byteBuffer(ByteBuffer(string: text)))
      #expect(data.endStream == text.isEmpty)
    }
  }

  @Test func aClientThatTakesDataMakesProgress() throws {
    let notes = Notes()
    let channel = EmbeddedChannel(handlers: [HTTP2Data(), notes])
    try channel.writeInbound(Payload.windowUpdate(windowSizeIncrement: 1))
    try channel.writeInbound(
      Payload.priority(.init(exclusive: false, dependency: .rootStream, weight: 1)))
    try channel.writeInbound(Payload.data(.init(data: .byteBuffer(ByteBuffer(string: "x")))))
    #expect(notes.texts == ["progress", "data"])
  }
}
