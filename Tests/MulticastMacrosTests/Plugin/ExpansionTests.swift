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
        func isIdle() async throws -> Bool
        var title: String? { get set }
      }
      """)
    #expect(expansion.findings.isEmpty)
    #expect(
      expansion.source == """
        /// A `DownloadDelegate` that forwards to many, in registration order.
        ///
        /// It holds its delegates as ``Multicast/MulticastDelegate`` does. Composites nest.
        public final class MulticastDownloadDelegate: DownloadDelegate, MulticastMacros::MulticastComposite {
          /// The delegates, in registration order.
          public let delegates: Multicast::MulticastDelegate<any DownloadDelegate>
          /// The same, for requirements of protocols that `DownloadDelegate` refines.
          public nonisolated let _composition: MulticastMacros::Composition<any DownloadDelegate>

          /// Creates a composite without delegates.
          public init(
            storage: Multicast::StorageStrategy = .waitFree,
            duplicates: Multicast::DuplicatePolicy = .ignore
          ) {
            delegates = .init(storage: storage, duplicates: duplicates)
            _composition = .init(delegates)
          }

          /// Creates a composite and adds `delegates` weakly, in order.
          public convenience init(
            _ delegates: Swift::Array<any DownloadDelegate>,
            storage: Multicast::StorageStrategy = .waitFree,
            duplicates: Multicast::DuplicatePolicy = .ignore
          ) {
            self.init(storage: storage, duplicates: duplicates)
            for delegate in delegates { self.delegates.add(delegate, fileID: "", line: 0) }
          }

          /// Creates a composite and adds `delegates` weakly, in order.
          public convenience init(
            _ delegates: some Swift::Sequence<any DownloadDelegate>,
            storage: Multicast::StorageStrategy = .waitFree,
            duplicates: Multicast::DuplicatePolicy = .ignore
          ) {
            self.init(storage: storage, duplicates: duplicates)
            for delegate in delegates { self.delegates.add(delegate, fileID: "", line: 0) }
          }

          /// A file is complete.
          ///
          /// Calls each delegate, in registration order.
          public func didFinish(_ file: String) {
            delegates.invoke { $0.didFinish(file) }
          }

          /// Whether every delegate answers `true`. Without delegates: `true`.
          public func shouldStart(_ file: String) -> Bool {
            delegates.everyAnswer { $0.shouldStart(file) }
          }

          /// Whether every delegate answers `true`. Without delegates: `true`.
          public func isIdle() async throws -> Bool {
            var answer = true
            for delegate in delegates.callees() {
              answer = try await delegate.isIdle()
              if !answer { return false }
            }
            return answer
          }

          /// The first answer that is not `nil`.
          public var title: String? {
            get {
              delegates.firstAnswer { $0.title }
            }
            set {
              delegates.invoke { $0.title = newValue }
            }
          }
        }

        """)
  }

  @Test("adds delegates that are not Sendable on the actor of the composite")
  func registration() throws {
    let expansion = ExpansionText(
      "@Multicast @MainActor public protocol P<Item>: AnyObject { associatedtype Item }")
    let source = try #require(expansion.source)
    #expect(
      source.contains(
        """

          /// Adds `delegate` after the others, as ``Multicast/MulticastDelegate`` does.
          ///
          /// - Returns: a handle that can end the registration.
          @discardableResult
          public func add(
        """))
    #expect(
      source.hasSuffix(
        """

        /// Adds `delegate` weakly.
        @MainActor
        public func +=<Item>(composite: MulticastP<Item>, delegate: any P<Item>) {
          composite.delegates.add(delegate, fileID: "", line: 0)
        }

        """))
  }

  @Test(
    "leaves delegates to the library that are Sendable, or that inherit whether they are",
    arguments: ["Sendable", "Q"])
  func noRegistration(inherited: String) throws {
    let expansion = ExpansionText("@Multicast @MainActor protocol P: AnyObject, \(inherited) {}")
    let source = try #require(expansion.source)
    #expect(!source.contains("func add") && !source.contains("func +="))
  }

  @Test("names a module with a dot where the compiler has no module selectors")
  func olderCompiler() throws {
    let expansion = ExpansionText(
      "@Multicast protocol P: AnyObject { func start() }", hasModuleSelectors: false)
    let source = try #require(expansion.source)
    #expect(source.contains("let delegates: Multicast.MulticastDelegate<any P>"))
    #expect(!source.contains("::"))
  }

  @Test("forwards what refining protocols inherit")
  func refinement() {
    let expansion = ExpansionText(
      "@Multicast protocol P: AnyObject { func start() }", isExtension: true)
    #expect(
      expansion.source == """
        /// Forwards what the composites of protocols that refine `P` inherit.
        extension P where Self: _MulticastComposite {
          func start() {
            let delegates = refinedDelegates(as: (any P).self)
            guard delegates.areSendable else { return delegates.callEach { $0.start() } }
            let arguments = MulticastMacros::capturedArguments()
            delegates.deliver(with: arguments) { delegate, _ in delegate.start() }
          }
        }

        """)
  }

  @Test("calls actors in closures that await nothing, which prefer no async overload")
  func actors() throws {
    let declaration = "@Multicast protocol P: Actor { func stop(); func move(_ x: Int, by y: T) }"
    let source = try #require(ExpansionText(declaration).source)
    #expect(
      source.contains(
        """
          func stop() {
            delegates.invoke(onEach: { $0 }) { delegate in
              await { (delegate: isolated any P) -> () in delegate.stop() }(delegate)
            }
          }
        """))
    #expect(
      source.contains(
        """
            let arguments = delegates.arguments((x, y))
            delegates.invoke(with: arguments, onEach: { $0 }) { delegate, arguments in
              await { (delegate: isolated any P) -> () in delegate.move(arguments.0, by: arguments.1) }(delegate)
            }
        """))
  }

  @Test(
    "names the type of a first or last answer, and that of none: an overload may answer otherwise",
    arguments: [
      ("@Answer(.first, default: 0) func f() -> Int", "firstAnswer { $0.f() as Int } ?? 0"),
      ("@Answer(.last, default: 0) func f() -> Int!", "lastAnswer { $0.f() } ?? 0"),
      ("func f() -> Int?", "firstAnswer { $0.f() }"),
      (
        "@Answer(.last, default: [], errors: .afterAll) func f() throws(E) -> [Int]",
        "collectAnswers { delegate throws(E) in try delegate.f() as [Int] }.last() ?? []"
      ),
      (
        "@Answer(.first, default: 0, calls: .concurrent) func f() async -> Int",
        "concurrentAnswers { await $0.f() as Int }.first() ?? 0"
      ),
      ("@Answer(.sum) func f() -> Int", "sumOfAnswers { $0.f() }"),
      ("func f() async", "let _: () = await delegate.f()"),
    ])
  func overloads(requirement: String, body: String) throws {
    let expansion = ExpansionText("@Multicast protocol P: AnyObject, Sendable { \(requirement) }")
    let source = try #require(expansion.source)
    #expect(source.contains(body))
  }

  @Test("names a type that is called Delegate by an alias beside the protocol")
  func delegateType() throws {
    let declaration = """
      @Multicast public protocol P: AnyObject {
        func f(_ delegate: Delegate) async -> [Delegate.Kind]
        @Answer(.first, default: Delegate(delegate: .Delegate).Delegate) func g() throws(Delegate) -> Int
      }
      """
    let source = try #require(ExpansionText(declaration).source)
    #expect(source.hasSuffix("\npublic typealias _DelegateOfP = Delegate\n"))
    #expect(source.contains("func f(_ delegate: _DelegateOfP) async -> [_DelegateOfP.Kind] {"))
    #expect(source.contains("var answer: [_DelegateOfP.Kind] = .init()"))
    #expect(source.contains("throws(_DelegateOfP) in"))
    #expect(source.contains("?? (_DelegateOfP(delegate: .Delegate).Delegate)"))
    let refinement = try #require(ExpansionText(declaration, isExtension: true).source)
    #expect(refinement.contains("var answer: [_DelegateOfP.Kind] = .init()"))
    #expect(refinement.contains("?? (_DelegateOfP(delegate: .Delegate).Delegate)"))
  }

  @Test("what only an expression calls Delegate has an alias with less access than the protocol")
  func delegateTypeInExpression() throws {
    func source(_ members: String) throws -> String {
      try #require(ExpansionText("@Multicast public protocol P: AnyObject { \(members) }").source)
    }
    #expect(
      try source("@Answer(.first, default: Delegate.none) func f() -> Int")
        .contains("fileprivate typealias _DelegateOfP = Delegate"))
    #expect(!(try source("func f<Delegate>(_ x: Delegate)").contains("_DelegateOf")))
    #expect(!(try source("func f(_ delegate: any MyDelegate)").contains("_DelegateOf")))
  }

  @Test(
    "borrows no value that can certainly be copied",
    arguments: [
      ("f<T>(_ x: borrowing T)", "f<T>(_ x: T)"),
      ("f<T>(_ x: borrowing T?)", "f<T>(_ x: T?)"),
      ("f(_ x: borrowing any P)", "f(_ x: any P)"),
      ("f(_ x: borrowing some P)", "f(_ x: some P)"),
      ("f(_ x: borrowing Self.Item)", "f(_ x: Item)"),
      ("f(_ x: borrowing [Value])", "f(_ x: [Value])"),
      ("f(_ x: borrowing Value)", "f(_ x: borrowing Value)"),
      ("f(_ x: borrowing (T, Value))", "f(_ x: borrowing (T, Value))"),
      ("f<T: ~Copyable>(_ x: borrowing T)", "f<T: ~Copyable>(_ x: borrowing T)"),
      ("f<T: A & ~Copyable>(_ x: borrowing T)", "f<T: A & ~Copyable>(_ x: borrowing T)"),
      (
        "f<T>(_ x: borrowing T) where T: ~Copyable",
        "f<T>(_ x: borrowing T) where T: ~Copyable"
      ),
      ("f(_ x: borrowing some ~Copyable)", "f(_ x: borrowing some ~Copyable)"),
      ("f(_ x: borrowing any ~Copyable)", "f(_ x: borrowing any ~Copyable)"),
    ])
  func borrowed(requirement: String, function: String) throws {
    let expansion = ExpansionText(
      "@Multicast protocol P<Item>: AnyObject { associatedtype Item; func \(requirement) }")
    let source = try #require(expansion.source)
    #expect(source.contains("  func \(function) {\n"))
  }

  @Test(
    "a comma between generic arguments ends no argument of @Answer",
    arguments: ["Box<Int, [Int]>()", "InlineArray<2, Int>(repeating: 0)", "(1 < 2, 3 > 2)"])
  func genericArguments(expression: String) throws {
    let expansion = ExpansionText(
      "@Multicast protocol P: AnyObject { @Answer(.first, default: \(expression)) func f() -> T }")
    let source = try #require(expansion.source)
    #expect(source.contains("firstAnswer { $0.f() as T } ?? "))
    #expect(source.contains(expression))
  }

  @Test(
    "the arguments of a refined protocol are no protocols that it refines",
    arguments: ["any Error", "any Sendable", "any Actor", "Box<any Error>", "any DistributedActor"])
  func argumentsOfRefinedProtocols(argument: String) throws {
    let expansion = ExpansionText(
      """
      @Multicast protocol P: Table<\(argument)> {
        func f(_ again: @escaping () -> Void)
        func g() -> Bool
      }
      """)
    #expect(expansion.findings.isEmpty)
    let source = try #require(expansion.source)
    #expect(source.contains("final class MulticastP: P"))
    // But each part of a composition is.
    let composition = ExpansionText(
      """
      @Multicast protocol P: Table<\(argument)> & Sendable {
        func f(_ again: @escaping () -> Void)
      }
      """)
    #expect(composition.findings.count == 1)
  }

  @Test("the policy that is meant without one can be named")
  func standardPolicy() {
    func source(_ policy: String) -> String? {
      ExpansionText(
        """
        @Multicast protocol P: AnyObject {
          @Answer(\(policy)errors: .afterAll) func load() throws -> [String]
        }
        """
      ).source
    }
    #expect(source("") != nil && source("") == source(".standard, "))
    #expect(source("") == source("AnswerPolicy.standard, "))
  }

  @Test("a parameter hides no member")
  func hiddenMembers() throws {
    let declaration = """
      @Multicast protocol P: AnyObject { func f(delegates: Int, refinedDelegates: Int) -> Bool }
      """
    let source = try #require(ExpansionText(declaration).source)
    #expect(source.contains("  self.delegates.everyAnswer {"))
    let refinement = try #require(ExpansionText(declaration, isExtension: true).source)
    #expect(refinement.contains("  self.refinedDelegates(as: (any P).self).everyAnswer {"))
  }

  @Test("what a nonisolated protocol forwards is nonisolated too, whatever the module's default is")
  func nonisolatedRefinement() throws {
    let expansion = ExpansionText(
      "@Multicast nonisolated protocol P: AnyObject { func start() }", isExtension: true)
    let source = try #require(expansion.source)
    #expect(source.contains("\nnonisolated extension P where"))
  }
}
