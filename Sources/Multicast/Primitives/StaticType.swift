/// What the metadata of a type tells about its values, without a cast at run time.
///
/// `RuntimeContract` checks what is read here. See "Type Metadata" in the documentation of the
/// Swift ABI.
struct StaticType {
  private let metadata: UnsafeRawPointer

  init(_ type: Any.Type) {
    // SAFETY: a metatype is the address of the metadata.
    metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
  }

  /// Whether each value is, or begins with, a reference to an instance of a class: the type is a
  /// class, or the existential of protocols that only classes conform to.
  ///
  /// `false` where the metadata does not tell; a cast finds out then.
  var isReference: Bool {
    // SAFETY: metadata begins with a word for the kind of type; in that of an existential, a word
    // with flags follows.
    switch metadata.load(as: Int.self) {
    case Self.classKind: true
    case Self.existentialKind:
      metadata.load(fromByteOffset: 8, as: UInt32.self) & Self.needsCast == 0
    default: false
    }
  }

  private static var classKind: Int { 0 }
  private static var existentialKind: Int { 0x303 }
  /// The flags of an existential without a class bound, and of a special one: `any Error`.
  private static var needsCast: UInt32 { 0xBF00_0000 }
}
