/// A singly linked list of objects that wait for their last reader, each with a retain.
///
/// The link of an object is a word inside it that nothing else uses once the object is retired: a
/// retirement allocates nothing.
struct RetiredList {
  /// The address of an object, which is a multiple of 16, plus the offset of its link in words; 0
  /// after the last one.
  typealias Link = UInt

  private(set) var first: Link

  init(_ first: Link = 0) {
    self.first = first
  }

  var isEmpty: Bool { first == 0 }

  /// Takes the retain of `object`, and makes it the first one.
  ///
  /// - Parameter link: a word in the first 128 bytes of the object.
  mutating func prepend(_ object: Unmanaged<AnyObject>, link: UnsafeMutableRawPointer) {
    let address = UInt(bitPattern: object.toOpaque())
    let offset = UInt(bitPattern: link) - address
    assert(address % 16 == 0 && offset % 8 == 0 && offset < 128, "a link that cannot be encoded")
    let new = address | offset / 8
    Self.setNext(of: new, to: first)
    first = new
  }

  /// Inserts `other` at the front.
  ///
  /// - Complexity: O(length of `other`).
  mutating func prepend(_ other: RetiredList) {
    guard !other.isEmpty else { return }
    Self.setNext(of: other.last, to: first)
    first = other.first
  }

  /// The last object of this list, which is not empty.
  ///
  /// - Complexity: O(length).
  var last: Link {
    var last = first
    while case let next = Self.next(of: last), next != 0 { last = next }
    return last
  }

  /// Releases every object in a loop: nested releases would exhaust the stack.
  mutating func free() {
    while !isEmpty {
      let object = first
      first = Self.next(of: object)
      // SAFETY: the list has owned a retain of the object since `prepend`.
      Unmanaged<AnyObject>.fromOpaque(Self.address(of: object)).release()
    }
  }

  // SAFETY: `address` and `word` give the address of an object that the list retains, and of a word
  // of it that only the owner of the list uses.
  private static func address(of object: Link) -> UnsafeMutableRawPointer {
    UnsafeMutableRawPointer(bitPattern: object & ~15)!
  }

  private static func word(of object: Link) -> UnsafeMutableRawPointer {
    address(of: object) + Int(object & 15) * 8
  }

  private static func next(of object: Link) -> Link {
    word(of: object).load(as: Link.self)
  }

  static func setNext(of object: Link, to next: Link) {
    word(of: object).storeBytes(of: next, as: Link.self)
  }
}

/// An object with a word for its link.
class RetiredObject {
  // The first stored property: see `list`.
  private var next: RetiredList.Link = 0

  init() {}

  /// A list of this object alone.
  final var list: RetiredList {
    let object = Unmanaged<AnyObject>.passRetained(self)
    var list = RetiredList()
    // SAFETY: `next`, the first stored property, follows the header of the object, of 16 bytes. It
    // is accessed as this word alone.
    list.prepend(object, link: object.toOpaque() + 16)
    return list
  }
}

/// Links an object that has no word for it.
final class RetiredLink: RetiredObject {
  private let object: AnyObject

  init(_ object: AnyObject) {
    self.object = object
  }
}
