extension Entry {
  /// An entry for `delegate`, which must be an instance of a class if `ownership` is weak.
  ///
  /// - Parameter hub: the name of the hub, for the message if it is not.
  static func make<Value>(
    _ delegate: Value, ownership: Ownership, mailbox: Mailbox? = nil,
    origin: OriginWord = OriginWord(siteOf: .unknown), hub: @autoclosure () -> String? = nil
  ) -> Entry {
    if StaticType(Value.self).isReference {
      return makeOfReference(delegate, ownership, mailbox, origin, hub())
    }
    guard let object = classInstance(delegate) else {
      require(
        ownership == .strong,
        """
        \(messagePrefix(hub())) \(type(of: delegate as Any)) is a value type, which cannot be held \
        weakly. Add it with ownership: .strong, or make it a class.
        """)
      return make(
        delegate, isWeak: false, target: nil, mailbox: mailbox, valueOwner: .entry, origin: origin)
    }
    if ownership == .weak { requireOwner(of: object, as: Value.self, hub()) }
    switch ownership {
    case .weak:
      return make(
        delegate, isWeak: true, target: WeakReference(object).word, mailbox: mailbox,
        valueOwner: .target, origin: origin)
    case .strong:
      return make(
        delegate, isWeak: false, target: Unmanaged.passRetained(object).toOpaque(),
        mailbox: mailbox, valueOwner: isErrorBox(Value.self) ? .errorEntry : .target, origin: origin
      )
    }
  }

  /// An entry that owns `value`, and may be called as long as `owner`, if there is one, lives.
  static func make<Value>(
    _ value: Value, owner: AnyObject?, mailbox: Mailbox?,
    origin: OriginWord = OriginWord(siteOf: .unknown)
  ) -> Entry {
    // Without an owner the hub itself tells apart whom a sender calls, and no target could die.
    make(
      value, isWeak: owner != nil, target: owner.map { WeakReference($0).word }, mailbox: mailbox,
      valueOwner: .entry, isPlaced: owner != nil, origin: origin)
  }

  /// The same as ``make(_:ownership:mailbox:origin:hub:)``, for a type whose values are references.
  private static func makeOfReference<Value>(
    _ delegate: Value, _ ownership: Ownership, _ mailbox: Mailbox?, _ origin: OriginWord,
    _ hub: @autoclosure () -> String?
  ) -> Entry {
    let entry = allocate(for: Value.self)
    let memory = UnsafeMutableRawPointer(entry.head) + valueOffset(Value.self)
    // SAFETY: the memory has space for the value, and begins with the reference, which it retains.
    memory.initializeMemory(as: Value.self, to: delegate)
    var target = memory.load(as: UnsafeMutableRawPointer.self)
    if ownership == .weak {
      let object = Unmanaged<AnyObject>.fromOpaque(target)
      // SAFETY: the value retains the object, so this need not.
      target = object._withUnsafeGuaranteedRef { object in
        requireOwner(of: object, as: Value.self, hub())
        return WeakReference(object).word
      }
      // From now on the value owns nothing. The caller holds the object.
      object.release()
    }
    entry.head.initialize(
      to: EntryHead(
        isWeak: ownership == .weak, valueOwner: .target, valueType: Value.self, target: target,
        mailbox: mailbox, isPlaced: true, origin: origin))
    return entry
  }

  /// An entry with `value`, or with its bits if the target owns it.
  ///
  /// - Parameter target: `nil` for the entry itself.
  private static func make<Value>(
    _ value: Value, isWeak: Bool, target: UnsafeMutableRawPointer?, mailbox: Mailbox?,
    valueOwner: EntryHead.ValueOwner, isPlaced: Bool = true, origin: OriginWord
  ) -> Entry {
    let entry = allocate(for: Value.self)
    entry.head.initialize(
      to: EntryHead(
        isWeak: isWeak, valueOwner: valueOwner, valueType: Value.self,
        target: target ?? Unmanaged.passUnretained(entry).toOpaque(), mailbox: mailbox,
        isPlaced: isPlaced, origin: origin))
    let memory = UnsafeMutableRawPointer(entry.head) + valueOffset(Value.self)
    if valueOwner == .target {
      // SAFETY: copies the bits without the retain of a copied value. They are used only while
      // `target` owns what they refer to, and never destroyed.
      withUnsafeBytes(of: value) { bits in
        memory.copyMemory(from: bits.baseAddress!, byteCount: bits.count)
      }
    } else {
      // SAFETY: the memory has space for it; `deinit` destroys it.
      memory.initializeMemory(as: Value.self, to: value)
    }
    return entry
  }

  /// An entry with space for a value. Its head must be initialised.
  private static func allocate<Value>(for _: Value.Type) -> Entry {
    require(
      MemoryLayout<Value>.alignment <= 16,
      "Multicast: \(Value.self) is aligned to more than 16 bytes; add a class that holds it.")
    let words = (valueOffset(Value.self) + MemoryLayout<Value>.size + 7) / 8
    // SAFETY: `create` makes an instance of the class it is called on.
    let entry = unsafeDowncast(
      Entry.create(minimumCapacity: words, makingHeaderWith: { _ in () }), to: Entry.self)
    assert(
      UnsafeRawPointer(entry.head) == entry.identity + headOffset,
      "the head does not begin where its offset says")
    return entry
  }
}
