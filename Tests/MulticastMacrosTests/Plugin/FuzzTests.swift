import MulticastTestSupport
import Testing

@testable import MulticastExpansion

@Suite("The parser ends for every input, with an expansion or a diagnostic")
struct FuzzTests {
  /// Declarations with every kind of requirement, to be mutated.
  static let declarations = [
    """
    @available(macOS 15, *) @Multicast /* c */ public protocol P<A, B>: AnyObject, Sendable where A: Hashable {
      associatedtype A: Collection where A.Element == Int
      associatedtype B = [String: (Int) -> Void]
      /// Documented.
      @Answer(.first, default: "a\\(1 + 2)b") func f<T: Sequence>(_ a: inout T, b c: @escaping @Sendable (Int) async throws(E) -> [T?]) async throws(E) -> String where T.Element == A
      @Answer(.reduce(0) { $0 + $1 }, errors: .afterAll) var x: Int { get async throws }
      subscript<T>(a b: T, _ c: Int) -> Bool { get set }
      static func == (l: Self, r: Self) -> Bool
      init?(name: String)
      #if os(Linux) && swift(>=6)
        mutating func g(_: Int..., `in`: repeat each T)
      #elseif DEBUG
        func h(_ m: @autoclosure () -> String) rethrows
      #else
        var y: (any Error)? { get nonmutating set }
      #endif
      @MainActor @discardableResult nonisolated(nonsending) func i(_ x: borrowing M::Q<3, [2 of Int]>.R) -> ~Copyable & any S
    }
    """,
    "@Multicast protocol P { func f(_ a: (x: Int, y: [String: Int]?) -> Void) -> ((Int) -> Void)?; var s: Self.X! { get } }",
    ##"@Multicast protocol `a b`: Actor { @Answer(.all, default: [#"x"#, """ m \#(1) """]) func `c d`() async -> [String] } // end"##,
  ]

  private static let pieces = [
    "(", ")", "[", "]", "{", "}", "<", ">", "->", "@", "#if", "#endif", "#else", "func", "var", ":",
    ",",
    "\"", "\"\"\"", "`", "/*", "*/", "//", "\n", "\\(", "where", "==", "...", "some ", "any ",
    "repeat ",
    "inout ", "throws(", "::", ".", "?", "!", "&", "~", "$", "#\"", "\u{0}", "é", "associatedtype",
    "@Answer(", "protocol", ";", "-", "async", "get", "set",
  ]

  private func mutated(_ text: String, _ random: inout SplitMix64) -> String {
    var bytes = Array(text.utf8)
    for _ in 0...Int.random(in: 0..<6, using: &random) {
      let place = Int.random(in: 0...bytes.count, using: &random)
      switch Int.random(in: 0..<5, using: &random) {
      case 0:
        bytes.insert(contentsOf: Self.pieces.randomElement(using: &random)!.utf8, at: place)
      case 1 where place < bytes.count:
        let end = min(bytes.count, place + Int.random(in: 1..<20, using: &random))
        bytes.removeSubrange(place..<end)
      case 2:
        bytes.removeSubrange(place...)
      case 3 where place < bytes.count:
        let end = min(bytes.count, place + Int.random(in: 1..<40, using: &random))
        bytes.insert(
          contentsOf: bytes[place..<end], at: Int.random(in: 0...bytes.count, using: &random))
      default:
        if place < bytes.count { bytes[place] = UInt8.random(in: 0...255, using: &random) }
      }
      if bytes.count > 8_000 { bytes.removeSubrange(4_000...) }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test("for mutated declarations", arguments: [1, 42, 4711, 65_537])
  func mutations(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for round in 0..<500 {
      let text = mutated(Self.declarations[round % Self.declarations.count], &random)
      for isExtension in [false, true] {
        let expansion = ExpansionText(text, isExtension: isExtension)
        let isDecided = expansion.source != nil || !expansion.findings.isEmpty || isExtension
        #expect(isDecided, "seed \(seed), round \(round): \(text)")
        for finding in expansion.findings {
          let isInside = finding.range.upperBound <= text.utf8.count && !finding.message.isEmpty
          #expect(isInside, "seed \(seed), round \(round): \(text)")
        }
      }
    }
  }

  @Test("for declarations that are cut off anywhere")
  func prefixes() {
    for declaration in Self.declarations {
      for count in 0..<declaration.utf8.count {
        let text = String(decoding: declaration.utf8.prefix(count), as: UTF8.self)
        let expansion = ExpansionText(text)
        #expect(expansion.source != nil || !expansion.findings.isEmpty)
      }
    }
  }

  @Test(
    "for nesting that is deeper than any program's",
    arguments: [
      ("func f(_ a: ", "(", ""), ("func f(_ a: ", "[", ""), ("func f(_ a: ", "A<", ""),
      ("func f(_ a: ", "any ", ""), ("func f(_ a: ", "~", ""), ("", "#if A\n", ""),
      ("@A", "(", ""), ("func f(_ a: ", "@A ", ""), ("", "@A(\"\\(", ""), ("var x: ", "() -> ", ""),
      ("func f(_ a: Int", "?", "?)"), ("func f(_ a: A", ".B", ")"), ("/*", "/*", ""),
    ])
  func nesting(start: String, repeated: String, end: String) {
    let text =
      "@Multicast protocol P {\n" + start + String(repeating: repeated, count: 20_000) + end + "\n}"
    let expansion = ExpansionText(text)
    #expect(expansion.source != nil || !expansion.findings.isEmpty)
  }
}
