"""Finds for each order of the sources a test that needs it.

Each operation is weakened by one step, alone, in every test that has it. If no test fails, the
order is stronger than needed: `kept.toml` must then have it, with the weakest order that is enough
and the reason why the source keeps more.
"""

from checker.program import WEAKER
from checker.verdict import verdict

from .drift import table
from .protocols import is_environment


class Operation:
    """An operation of the sources, in the tests that have it."""

    def __init__(self, name):
        self.name = name
        self.protocols = []

    @property
    def step(self):
        protocol = self.protocols[0]
        return protocol.step(protocol.places[self.name][0])

    @property
    def order(self):
        return self.step.order

    def failing(self, order):
        """The tests that fail if the operation has this order."""
        return [protocol for protocol in self.protocols
                if verdict(protocol.with_order(self.name, order)).is_bad]

    def weaker(self, order):
        return WEAKER[self.step.family].get(order, [])

    def needed(self, order=None):
        """Of each order that is one step weaker, the tests that fail with it."""
        return {weaker: self.failing(weaker) for weaker in self.weaker(order or self.order)}


def operations(protocols):
    """The operations that the tests name, by name."""
    found = {}
    for protocol in protocols:
        if not protocol.is_allowed:
            for name in protocol.sources():
                found.setdefault(name, Operation(name)).protocols.append(protocol)
    return dict(sorted(found.items()))


def kept():
    return table("kept.toml", "order", "enough")


class Result:
    """Whether an order is needed, and by which tests."""

    def __init__(self, operation, entry):
        self.name = operation.name
        self.order = operation.order
        self.steps = operation.needed()
        self.entry = entry
        self.problem = self.find_problem(operation)

    def find_problem(self, operation):
        useless = [weaker for weaker, tests in self.steps.items() if not tests]
        if not self.entry:
            if useless:
                return (f"no test needs {self.order}, {useless[0]} is enough: weaken the source, "
                        "or say in kept.toml why not")
            return None
        if self.entry["order"] != self.order:
            return f"it is {self.order}, and kept.toml says {self.entry['order']}"
        if not useless:
            return f"kept.toml has it, but {self.needs[0].name} needs it"
        enough = self.entry["enough"]
        failing = operation.failing(enough)
        if failing:
            return f"kept.toml says that {enough} is enough, but {failing[0].name} needs more"
        for weaker, tests in operation.needed(enough).items():
            if not tests:
                return f"kept.toml says {enough}, but {weaker} is enough"
        return None

    @property
    def needs(self):
        """The tests that need the order, each once."""
        tests = [test for tests in self.steps.values() for test in tests]
        return list(dict.fromkeys(tests))


def results(protocols):
    """A result for each operation of the sources, and what is wrong with `kept.toml` itself."""
    entries = kept()
    found = [Result(operation, entries.get(name))
             for name, operation in operations(protocols).items()]
    unknown = set(entries) - {result.name for result in found}
    return found, [f"kept.toml has {name}, which is in no test" for name in sorted(unknown)]


def cannot_fail(protocol):
    """Whether the test holds even if every operation, also of its environment, orders nothing."""
    if protocol.is_allowed:
        return False
    weakest = {(thread, index): "none" if step.kind == "fence" else "relaxed"
               for thread, index, step in protocol.program.ordered()}
    return not verdict(protocol.program.with_orders(weakest)).is_bad
