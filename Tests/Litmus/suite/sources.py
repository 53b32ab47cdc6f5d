"""Finds the atomic operations and fences of the library, with their orders.

An operation is named `File.function variable.operation`, for example
`ReadIndicator.leave ticket.wrappingSubtract`. If one function has several of the same name, the
second is `variable.operation#2`. A fence is named by the C function that is called:
`Invocation.pass cmulticast_barrier_light`.
"""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SWIFT = "Sources/Multicast"
C = ["Sources/CMulticast/include/CMulticast.h", "Sources/CMulticast/CMulticast.c"]

ORDERS = {
    "relaxed": "relaxed", "acquiring": "acquire", "releasing": "release",
    "acquiringAndReleasing": "acq_rel", "sequentiallyConsistent": "seq_cst",
}
LOADS = {"load"}
STORES = {"store"}
# The C functions that are fences, and their order in a test: see `fences`.
FENCES = {
    "cmulticast_barrier_light": "seq_cst",
    "cmulticast_barrier_heavy": "seq_cst",
    "cmulticast_fence_acquire": "acquire",
}
# The function that contains the fence, where it is another one.
IMPLEMENTED_BY = {"cmulticast_barrier_light": "cmulticast_barrier_light_by_fence"}
DECLARATION = re.compile(
    r"^(?P<indent> *)(?:@[\w()]+ )*(?:[a-z]+(?:\(\w+\))? )*?"
    r"(?:func (?P<func>\w+)|(?P<init>init|deinit|subscript)\b|(?:var|let) (?P<var>\w+))")
# An order that is a variable, or two orders.
UNREADABLE = re.compile(
    r"\.(?:load|store|exchange|compareExchange|weakCompareExchange|add|subtract|wrappingAdd"
    r"|wrappingSubtract|bitwise\w+|logical\w+|min|max)\((?:[^()]|\([^()]*\))*"
    r"\b(?:ordering:(?!\s*\.)|successOrdering:|failureOrdering:)")
FENCE_CALL = re.compile(r"\b(cmulticast_barrier_light|cmulticast_barrier_heavy|"
                        r"cmulticast_fence_acquire|atomicMemoryFence)\(")


@dataclass(frozen=True)
class Operation:
    name: str
    order: str
    # load, store, rmw or fence
    family: str
    file: str
    line: int


def operations(root=ROOT):
    """Every atomic operation and fence of the library, by name."""
    found = {}
    for path in sorted((root / SWIFT).rglob("*.swift")):
        for operation in in_file(path, root):
            if operation.name in found:
                raise SystemExit(f"check: two files have an operation {operation.name}")
            found[operation.name] = operation
    return found


def in_file(path, root):
    text = blank(path.read_text())
    scopes = functions(text)
    counts = {}
    operations = []
    known = set()
    for match in re.finditer(r"\bordering:\s*\.(\w+)", text):
        order = ORDERS.get(match.group(1))
        if not order or match.start() in known:
            continue
        opening = enclosing_parenthesis(text, match.start())
        variable, operation = receiver(text, opening)
        line = text.count("\n", 0, match.start()) + 1
        if not variable:
            raise SystemExit(f"check: {path}:{line}: an `ordering:` of no atomic operation")
        family = "load" if operation in LOADS else "store" if operation in STORES else "rmw"
        operations.append((match.start(), f"{variable}.{operation}", order, family))
    for match in UNREADABLE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        raise SystemExit(f"check: {path}:{line}: an order must be written as `ordering: .x`")
    for match in FENCE_CALL.finditer(text):
        name = match.group(1)
        if name not in FENCES:
            raise SystemExit(f"check: {path}: {name} is not supported")
        operations.append((match.start(), name, FENCES[name], "fence"))
    for at, name, order, family in sorted(operations):
        line = text.count("\n", 0, at) + 1
        name = f"{path.stem}.{scope(scopes, line)} {name}"
        counts[name] = counts.get(name, 0) + 1
        if counts[name] > 1:
            name += f"#{counts[name]}"
        yield Operation(name, order, family, str(path.relative_to(root)), line)


def blank(text):
    """The text with spaces in place of comments and string literals."""
    def spaces(match):
        return re.sub(r"[^\n]", " ", match.group())
    return re.sub(r'"""(?:.|\n)*?"""|"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*(?:.|\n)*?\*/', spaces, text)


def functions(text):
    """The declarations as (line, indentation, name), for `scope`."""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        match = DECLARATION.match(line)
        if match:
            name = match["func"] or match["init"] or match["var"]
            found.append((number, len(match["indent"]), name))
    return found


def scope(scopes, line):
    """The function, or the variable of a type, around a line: the outermost inside its type.

    The sources are formatted: members of types are indented by two spaces, or by four inside `#if`
    or a nested type.
    """
    candidates = [entry for entry in scopes if entry[0] <= line]
    members = []
    for number, indent, name in reversed(candidates):
        if not members or indent < members[-1][1]:
            members.append((number, indent, name))
    # The last one at the smallest indentation that is a member.
    for number, indent, name in reversed(members):
        if indent > 0:
            return name
    return "file"


def enclosing_parenthesis(text, at):
    depth = 0
    for index in range(at, -1, -1):
        if text[index] == ")":
            depth += 1
        elif text[index] == "(":
            if depth == 0:
                return index
            depth -= 1
    return -1


def receiver(text, opening):
    """The variable and the operation of a call whose arguments begin at `opening`."""
    operation = re.search(r"(?:\.|\b)(\w+)$", text[:opening])
    if not operation or text[operation.start()] != ".":
        return None, None
    at = operation.start()
    while True:
        rest = text[:at].rstrip()
        if rest.endswith(("]", ")", "?", "!")):
            called = rest.endswith(")")
            at = matching(rest) if rest[-1] in "])" else len(rest) - 1
            if not called:
                continue
            name = re.search(r"\w+$", text[:at])
            if not name:
                # A parenthesis: the first name in it.
                first = re.match(r"\(\s*(\w+)", text[at:])
                return (first.group(1), operation.group(1)) if first else (None, None)
            at = name.start()
            if text[at - 1] == ".":
                at -= 1
            continue
        name = re.search(r"(\$?\w+)$", rest)
        if not name:
            return None, None
        if name.group(1) != "pointee":
            return name.group(1), operation.group(1)
        at = name.start() - 1


def matching(text):
    """The index of the bracket that the last character closes."""
    depth = 0
    for index in range(len(text) - 1, -1, -1):
        if text[index] in ")]":
            depth += 1
        elif text[index] in "([":
            depth -= 1
            if depth == 0:
                return index
    return -1


def fences(root=ROOT):
    """What is wrong with the C functions of FENCES: each contains fences of its order, and no other
    function contains a fence."""
    text = "".join((root / name).read_text() for name in C)
    found = {}
    for match in re.finditer(r"\batomic_thread_fence\(memory_order_(\w+)\)", text):
        functions = re.findall(r"^\w[\w ]*?(\w+)\([^;{}]*\) \{", text[:match.start()], re.MULTILINE)
        found.setdefault(functions[-1], set()).add(match.group(1))
    expected = {IMPLEMENTED_BY.get(name, name): {order} for name, order in FENCES.items()}
    return [f"{name} has fences of the orders {sorted(found.get(name, set()))}, and the tests have "
            f"{sorted(expected.get(name, set()))}"
            for name in sorted(found.keys() | expected.keys())
            if found.get(name) != expected.get(name)]
