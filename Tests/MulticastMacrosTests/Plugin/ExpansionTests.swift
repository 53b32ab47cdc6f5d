import Testing

@Suite("The expansion of @Multicast")
struct ExpansionTests {
  @Test("reads as a person would write it")
  func reads() {
    let expansion = ExpansionText(
      """
      @Multicast
      public protocol DownloadDelegate: AnyObject, Sendable {
        /// A file is complete.
        func didFinish(_ file: String)
        func shouldStart(_ file: String) -> Bool
      }
      """)
    #expect(expansion.findings.isEmpty)
    #expect(
      expansion.source == """
        /// A `DownloadDelegate` that forwards to many, in registration order.
        ///
        /// It holds its delegates as ``Multicast/MulticastDelegate`` does. Composites nest.
        public final class MulticastDownloadDelegate: DownloadDelegate, MulticastMacros::MulticastComposite {
        """)
  }
}
