// Compares the macro's parser with the toolchain's SwiftParser: for each protocol of the files in
// the arguments, the requirements that both find.

import Foundation
import SwiftParser
import SwiftSyntax

@main
enum Differential {
  static func main() throws {
    var protocols = 0
    var requirements = 0
    var differences = 0
    for path in CommandLine.arguments.dropFirst() {
      let text = try String(contentsOfFile: path, encoding: .utf8)
      let finder = ProtocolFinder(viewMode: .sourceAccurate)
      finder.walk(SwiftParser.Parser.parse(source: text))
      for declaration in finder.found {
        protocols += 1
        let expected = Summary(declaration)
        let actual = Summary(declaration.trimmedDescription)
        requirements += expected.lines.count
        if expected.lines != actual.lines {
          differences += 1
          print("\(path): protocol \(declaration.name.text)")
          for (line, other) in zip(expected.lines + [""], actual.lines + [""]) where line != other {
            print("  SwiftParser: \(line)\n  the macro:   \(other)")
            break
          }
        }
      }
    }
    guard protocols > 0, differences == 0 else {
      print("\(differences) of \(protocols) protocols differ")
      exit(1)
    }
    print("\(protocols) protocols with \(requirements) requirements are parsed as by SwiftParser")
  }
}

private final class ProtocolFinder: SyntaxVisitor {
  var found: [ProtocolDeclSyntax] = []

  override func visit(_ node: ProtocolDeclSyntax) -> SyntaxVisitorContinueKind {
    found.append(node)
    return .visitChildren
  }
}

/// One line for each requirement, without white space.
private struct Summary {
  var lines: [String] = []

  private static func plain(_ text: String) -> String { text.filter { !$0.isWhitespace } }

  // MARK: The toolchain's parser

  init(_ declaration: ProtocolDeclSyntax) {
    let primary =
      declaration.primaryAssociatedTypeClause?.primaryAssociatedTypes.map(\.name.text) ?? []
    let inherited =
      declaration.inheritanceClause?.inheritedTypes.map { Self.text($0.type) } ?? []
    lines.append("\(declaration.name.text)<\(primary)>:\(inherited)")
    add(declaration.memberBlock.members)
  }

  /// The tokens without comments.
  private static func text(_ node: some SyntaxProtocol) -> String {
    plain(node.tokens(viewMode: .sourceAccurate).map(\.text).joined())
  }

  private mutating func add(_ members: MemberBlockItemListSyntax) {
    for member in members {
      if let node = member.decl.as(FunctionDeclSyntax.self) {
        add("func \(node.name.text)", node.attributes, node.modifiers, node.signature)
      } else if let node = member.decl.as(InitializerDeclSyntax.self) {
        add("init", node.attributes, node.modifiers, node.signature)
      } else if let node = member.decl.as(VariableDeclSyntax.self),
        let binding = node.bindings.first
      {
        let type = binding.typeAnnotation.map { Self.text($0.type) } ?? ""
        lines.append(
          "var \(Self.text(binding.pattern)):\(type) \(Self.accessors(binding.accessorBlock))"
            + Self.prefix(node.attributes, node.modifiers))
      } else if let node = member.decl.as(SubscriptDeclSyntax.self) {
        lines.append(
          "subscript\(Self.parameters(node.parameterClause)) \(Self.text(node.returnClause.type)) "
            + "\(Self.accessors(node.accessorBlock))" + Self.prefix(node.attributes, node.modifiers)
        )
      } else if let node = member.decl.as(AssociatedTypeDeclSyntax.self) {
        lines.append("associatedtype \(node.name.text)")
      } else if let node = member.decl.as(TypeAliasDeclSyntax.self) {
        lines.append("typealias \(node.name.text)")
      } else if let node = member.decl.as(IfConfigDeclSyntax.self) {
        for clause in node.clauses {
          lines.append(clause.poundKeyword.text)
          if case .decls(let members)? = clause.elements { add(members) }
        }
        lines.append("#endif")
      }
    }
  }

  private mutating func add(
    _ head: String, _ attributes: AttributeListSyntax, _ modifiers: DeclModifierListSyntax,
    _ signature: FunctionSignatureSyntax
  ) {
    let effects = signature.effectSpecifiers
    let isAsync = effects?.asyncSpecifier != nil
    let errors = Self.errors(effects?.throwsClause)
    let result = signature.returnClause.map { Self.text($0.type) } ?? ""
    lines.append(
      "\(head)\(Self.parameters(signature.parameterClause)) \(isAsync) \(errors) \(result)"
        + Self.prefix(attributes, modifiers))
  }

  private static func parameters(_ clause: FunctionParameterClauseSyntax) -> [String] {
    clause.parameters.map {
      "\($0.firstName.text) \($0.secondName?.text ?? "") \(text($0.type))\($0.ellipsis?.text ?? "")"
    }
  }

  private static func accessors(_ block: AccessorBlockSyntax?) -> [String] {
    guard case .accessors(let list)? = block?.accessors else { return [] }
    return list.map { accessor in
      let effects = accessor.effectSpecifiers
      return "\(accessor.accessorSpecifier.text) \(effects?.asyncSpecifier != nil) "
        + errors(effects?.throwsClause)
    }
  }

  /// The macro's parser drops the types that say what the words without a type say.
  private static func errors(_ clause: ThrowsClauseSyntax?) -> String {
    switch clause.map(text) {
    case nil, "throws(Never)", "throws(Swift.Never)": ""
    case "throws(anyError)", "throws(anySwift.Error)": "throws"
    case let text?: text
    }
  }

  private static func prefix(
    _ attributes: AttributeListSyntax, _ modifiers: DeclModifierListSyntax
  ) -> String {
    " \(attributes.map(text)) \(modifiers.map(text))"
  }

  // MARK: The macro's parser

  init(_ source: String) {
    do throws(SyntaxError) {
      let declaration = try Parser.parse(Source(source))
      lines.append(
        "\(declaration.name)<\(declaration.primaryAssociatedTypes)>:"
          + "\(declaration.inherited.map { Self.plain($0.text) })")
      add(declaration.members)
    } catch {
      lines.append(error.message)
    }
  }

  private mutating func add(_ members: [Member]) {
    for member in members {
      switch member {
      case .requirement(let requirement): add(requirement)
      case .conditional(let clauses):
        for clause in clauses {
          lines.append(String(clause.directive.prefix { $0 == "#" || $0.isLetter }))
          add(clause.members)
        }
        lines.append("#endif")
      }
    }
  }

  private mutating func add(_ requirement: Requirement) {
    let prefix =
      " \(requirement.attributes.map { Self.plain($0.text) }) "
      + "\(requirement.modifiers.map { Self.plain($0.text) })"
    let parameters = requirement.parameters.map {
      "\($0.label) \($0.name ?? "") \(Self.plain($0.type.text))\($0.isVariadic ? "..." : "")"
    }
    let result = Self.plain(requirement.result?.text ?? "")
    let accessors = requirement.accessors.map {
      "\($0.kind) \($0.isAsync) \(Self.errors($0.errors))"
    }
    switch requirement.kind {
    case .function, .initializer:
      let head = requirement.kind == .function ? "func " : ""
      lines.append(
        "\(head)\(requirement.name)\(parameters) \(requirement.isAsync) \(Self.errors(requirement.errors)) "
          + "\(result)\(prefix)")
    case .variable: lines.append("var \(requirement.name):\(result) \(accessors)\(prefix)")
    case .subscripting: lines.append("subscript\(parameters) \(result) \(accessors)\(prefix)")
    case .associatedType: lines.append("associatedtype \(requirement.name)")
    case .typeAlias: lines.append("typealias \(requirement.name)")
    case .other: return
    }
  }

  private static func errors(_ errors: Requirement.Errors) -> String {
    switch errors {
    case .none: ""
    case .any: "throws"
    case .rethrown: "rethrows"
    case .typed(let type): plain("throws(\(type))")
    }
  }
}
