"""Compares the orders of the sources with those of the tests.

Each atomic operation and fence of the sources must be in a test with the same order, or in
`exceptions.toml` with the same order and a reason. The operations of one function follow one
another in a thread of a test as in the function.
"""

import tomllib
from pathlib import Path

from checker.program import failure_order

from . import sources

FOLDER = Path(__file__).resolve().parents[1]


def table(name, *keys):
    """The entries of a file: a reason, and the operations that it holds for."""
    entries = {}
    for entry in tomllib.loads((FOLDER / name).read_text())["entry"]:
        if not entry.get("reason"):
            raise SystemExit(f"check: {name}: an entry has no reason")
        for operation in entry["operations"]:
            if operation in entries:
                raise SystemExit(f"check: {name} has {operation} twice")
            entries[operation] = {key: entry.get(key) for key in ("reason", *keys)}
    return entries


def exceptions():
    return table("exceptions.toml", "order")


def problems(protocols):
    """What differs, as lines of text; the number of operations compared."""
    operations = sources.operations()
    excepted = exceptions()
    wrong = sources.fences()
    covered = {}
    for protocol in protocols:
        for name in protocol.sources():
            covered.setdefault(name, []).append(protocol)
            for place in protocol.places[name]:
                wrong += compare(protocol, protocol.step(place), name, operations)
        wrong += reordered(protocol, operations)
    for name, operation in operations.items():
        where = f"{operation.file}:{operation.line}: {name}"
        if name in excepted:
            order = excepted[name]["order"]
            if order != operation.order:
                wrong.append(f"{where} is {operation.order}, and exceptions.toml says {order}")
        elif name not in covered:
            wrong.append(f"{where} is in no test, and not in exceptions.toml")
    for name in excepted:
        if name not in operations:
            wrong.append(f"exceptions.toml has {name}, which the sources do not have")
        elif name in covered:
            wrong.append(f"exceptions.toml has {name}, which is in {covered[name][0].name}")
    return wrong, len(operations)


def compare(protocol, step, name, operations):
    where = f"{protocol.path.name}:{step.line}"
    operation = operations.get(name)
    if not operation:
        return [f"{where}: the sources have no operation {name}"]
    if operation.order != step.order:
        return [f"{where}: {name} is {step.order}, and {operation.order} in "
                f"{operation.file}:{operation.line}"]
    if step.kind == "cas" and step.failure != failure_order(step.order):
        return [f"{where}: if {name} fails, it is {failure_order(step.order)} in Swift"]
    # An exchange of the sources may be a compare-and-exchange of the test.
    if operation.family != step.family:
        return [f"{where}: {name} is a {step.family}, and a {operation.family} in the sources"]
    return []


def reordered(protocol, operations):
    """The operations that do not follow those before them in the same function of the sources.

    One that the thread has had before begins another iteration of a loop.
    """
    wrong = []
    for code in protocol.program.threads:
        seen = set()
        latest = {}
        for step in code:
            for name in step.sources:
                operation = operations.get(name)
                if not operation:
                    continue
                function = name.split(" ")[0]
                if name not in seen and operation.line < latest.get(function, 0):
                    wrong.append(f"{protocol.path.name}:{step.line}: {name} comes earlier in "
                                 f"{operation.file}:{operation.line}")
                seen.add(name)
                latest[function] = operation.line
    return wrong
