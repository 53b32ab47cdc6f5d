"""The public surface of the libraries, from the symbol graphs of their built modules.

The graphs contain what a user of a module sees: public declarations that the sources write, without those
that the compiler or the standard library adds, each with the doc comment that is written at it; and the
conformances of public types.
"""

import json
import re
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRATCH = ROOT / ".build"
MODULES = ["Multicast", "MulticastMacros", "ConcurrencyStress", "ConcurrencyStressTesting"]

CALLABLES = {"method", "type.method", "func", "func.op", "init", "subscript", "type.subscript", "macro"}
PROPERTIES = {"property", "type.property", "var"}
TYPES = {"class", "struct", "enum", "protocol", "actor"}


class Symbol:
    """A public declaration."""

    def __init__(self, graph_symbol):
        self.kind = graph_symbol["kind"]["identifier"].removeprefix("swift.")
        self.path = ".".join(graph_symbol["pathComponents"])
        self.outermost = graph_symbol["pathComponents"][0]
        self.identifier = graph_symbol["identifier"]["precise"]
        self.declaration = joined(graph_symbol["declarationFragments"])
        location = graph_symbol["location"]
        self.file = Path(location["uri"].removeprefix("file://"))
        self.line = location["position"]["line"] + 1
        lines = graph_symbol.get("docComment", {}).get("lines", [])
        self.comment = "\n".join(line["text"] for line in lines)
        signature = graph_symbol.get("functionSignature", {})
        self.parameters = [
            parameter.get("internalName", parameter["name"])
            for parameter in signature.get("parameters", [])
        ]
        self.result = joined(signature.get("returns", []))
        self.constraints = graph_symbol.get("swiftExtension", {}).get("constraints", [])

    @property
    def isCallable(self):
        return self.kind in CALLABLES

    @property
    def isType(self):
        return self.kind in TYPES

    @property
    def throws(self):
        """Whether the function throws, not only a closure among its parameters."""
        return self.isCallable and re.search(r"\b(re)?throws\b", self.afterParameters()) is not None

    def afterParameters(self):
        """The part of the declaration after the parentheses of the parameters."""
        start = re.search(r"(?<![@\w])(func|init|subscript|macro)\b", self.declaration)
        text, depth = self.declaration[start.end():], 0
        for index, character in enumerate(text):
            if character == "(":
                depth += 1
            elif character == ")":
                depth -= 1
                if depth == 0 and not isOperatorName(text[:index]):
                    return text[index + 1:]
        return ""

    def line_of_surface(self, is_required=False):
        """The declaration in one line, with the type that it is a member of.

        A requirement of a protocol without a default implementation is `required`.
        """
        around = ".".join(self.path.split(".")[:-1])
        declaration = ("required " if is_required else "") + " ".join(self.declaration.split())
        return (f"{around}: " if around else "") + declaration + where(self.constraints)

    def place(self):
        try:
            return f"{self.file.relative_to(ROOT)}:{self.line}"
        except ValueError:
            return f"{self.file}:{self.line}"


SIGNS = {"conformance": ":", "superclass": ":", "sameType": "=="}


# What nearly every type conforms to, and no program names.
IMPLIED = {"Copyable", "Escapable", "SendableMetatype"}


def isOperatorName(text):
    return "(" not in text


def where(constraints):
    """A clause with the constraints, apart from those that hold for nearly every type."""
    texts = sorted({
        f"{each['lhs']} {SIGNS[each['kind']]} {each['rhs']}" for each in constraints
        if each["rhs"] not in IMPLIED
    })
    return f" [where {', '.join(texts)}]" if texts else ""


def joined(fragments):
    return "".join(fragment["spelling"] for fragment in fragments)


def build():
    """Builds the libraries. `Tests/Documentation/check` builds the same products in the same folder."""
    for target in ("MulticastMacros", "ConcurrencyStressTesting"):
        subprocess.run(
            ["swift", "build", "--target", target, "--scratch-path", SCRATCH], cwd=ROOT, check=True,
            stdout=subprocess.DEVNULL)
    products = subprocess.run(
        ["swift", "build", "--scratch-path", SCRATCH, "--show-bin-path"], cwd=ROOT, check=True,
        capture_output=True, text=True).stdout.strip()
    return Path(products)


def extracted(module, search, module_map=None):
    """The symbols of a built module in the folder `search`."""
    symbols = [
        Symbol(each) for graph in graphs(module, search, module_map) for each in graph["symbols"]
        # What the compiler derives, such as `init(rawValue:)`, has no place in the sources.
        if "location" in each and not each["location"]["uri"].startswith("file:///swift-macro")
    ]
    symbols.sort(key=lambda symbol: (str(symbol.file), symbol.line, symbol.path))
    return symbols


def graphs(module, search, module_map=None):
    """The symbol graphs of a built module in the folder `search`: its own, and that of its extensions."""
    target = json.loads(subprocess.run(
        ["swiftc", "-print-target-info"], check=True, capture_output=True, text=True).stdout)
    with tempfile.TemporaryDirectory() as folder:
        command = [
            "swift-symbolgraph-extract", "-module-name", module, "-I", search, "-sdk", "/",
            "-target", target["target"]["triple"], "-minimum-access-level", "public",
            "-skip-synthesized-members", "-skip-inherited-docs", "-output-dir", folder,
        ]
        if module_map:
            command += ["-Xcc", f"-fmodule-map-file={module_map}"]
        subprocess.run(command, check=True)
        return [json.loads(graph.read_text()) for graph in sorted(Path(folder).glob("*.symbols.json"))]


def modules():
    """The symbols of each library: pairs of the module's name and its symbols."""
    products = build()
    return [(module, extracted(module, *places(products))) for module in MODULES]


def places(products):
    """Where the modules are, and the module map of the C target that they import."""
    return products / "Modules", products / "CMulticast.build" / "module.modulemap"


def declarations(module, search, module_map=None):
    """A line for each public declaration, and for each conformance of a public type, sorted."""
    lines = set()
    for graph in graphs(module, search, module_map):
        names = {each["identifier"]["precise"]: ".".join(each["pathComponents"]) for each in graph["symbols"]}
        relations = graph["relationships"]
        required = {each["source"] for each in relations if each["kind"] == "requirementOf"}
        required -= {each["target"] for each in relations if each["kind"] == "defaultImplementationOf"}
        for each in graph["symbols"]:
            if "location" in each:
                lines.add(Symbol(each).line_of_surface(each["identifier"]["precise"] in required))
        for relation in relations:
            if relation["kind"] != "conformsTo" or relation["source"] not in names:
                continue
            target = names.get(relation["target"]) or relation.get("targetFallback", "").split(".")[-1]
            if target and target not in IMPLIED:
                lines.add(
                    f"{names[relation['source']]}: {target}" + where(relation.get("swiftConstraints", [])))
    return sorted(lines)
