"""The public surface of the libraries, from the symbol graphs of their built modules.

The graphs contain what a user of a module sees: public declarations that the sources write, without those
that the compiler or the standard library adds, each with the doc comment that is written at it.
"""

import json
import re
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRATCH = ROOT / ".build-docs"
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
        self.isMacro = self.kind == "macro"
        self.available = graph_symbol.get("availability", [])
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
        constraints = graph_symbol.get("swiftExtension", {}).get("constraints", [])
        self.constraints = sorted(
            f"{each['lhs']} {SIGNS[each['kind']]} {each['rhs']}" for each in constraints)

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

    def place(self):
        try:
            return f"{self.file.relative_to(ROOT)}:{self.line}"
        except ValueError:
            return f"{self.file}:{self.line}"


SIGNS = {"conformance": ":", "superclass": ":", "sameType": "=="}


def isOperatorName(text):
    return "(" not in text


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
        symbols = []
        for graph in sorted(Path(folder).glob("*.symbols.json")):
            for each in json.loads(graph.read_text())["symbols"]:
                # What the compiler derives, such as `init(rawValue:)`, has no place in the sources.
                if "location" in each and not each["location"]["uri"].startswith("file:///swift-macro"):
                    symbols.append(Symbol(each))
    symbols.sort(key=lambda symbol: (str(symbol.file), symbol.line, symbol.path))
    return symbols


def modules():
    """The symbols of each library: pairs of the module's name and its symbols."""
    products = build()
    return [
        (module, extracted(
            module, products / "Modules", products / "CMulticast.build" / "module.modulemap"))
        for module in MODULES
    ]
