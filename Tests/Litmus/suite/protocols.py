"""The tests of the protocols of the library.

`protocols/NAME.litmus` must be forbidden and without a data race; `protocols/NAME.allowed.litmus`,
which shows why a fence is needed, must be allowed. Comments before each atomic operation name the
operations of the sources that it stands for (see `sources`), or one of ENVIRONMENT.
"""

from pathlib import Path

from checker.parser import parse

FOLDER = Path(__file__).resolve().parents[1] / "protocols"

# What an operation stands for that the sources do not contain. A colon and a text may follow.
ENVIRONMENT = {
    "lock": "a critical section: taken by an exchange, and free unless it is 1",
    "runtime": "reference counts and tasks of the Swift runtime",
    "user": "how a program tells one of its threads about another",
}


class Protocol:
    def __init__(self, path):
        self.path = path
        self.is_allowed = path.name.endswith(".allowed.litmus")
        self.program = parse(path)
        self.name = self.program.name
        expected = path.name.removesuffix(".litmus").removesuffix(".allowed")
        if self.name != expected:
            raise SystemExit(f"check: {path} has a test called {self.name}")
        # Of each name that the comments mention, the operations that stand for it.
        self.places = {}
        for thread, index, step in self.program.ordered():
            if not step.sources:
                raise SystemExit(f"check: {path}:{step.line}: `// @` must say what this stands for")
            for name in step.sources:
                self.places.setdefault(name, []).append((thread, index))
        self.check_barriers()

    def check_barriers(self):
        """Checks which threads have the halves of the asymmetric barrier.

        In the tests both are seq_cst fences (WG21 P1202R2), which order light halves among
        themselves, too. The real ones do not, so only one thread may have light halves, and
        another one must have the heavy half.
        """
        light = {place[0] for name in self.places for place in self.places[name]
                 if name.endswith("cmulticast_barrier_light")}
        heavy = {place[0] for name in self.places for place in self.places[name]
                 if name.endswith("cmulticast_barrier_heavy")}
        if len(light) > 1 or light and not heavy - light:
            raise SystemExit(f"check: {self.path}: one thread may have the light half of the "
                             "barrier, and another one must have the heavy half")

    def sources(self):
        """The operations of the sources that the test has."""
        return [name for name in self.places if not is_environment(name)]

    def step(self, place):
        thread, index = place
        return self.program.threads[thread][index]

    def with_order(self, name, order):
        """The program in which every operation that stands for `name` has this order."""
        return self.program.with_orders({place: order for place in self.places[name]})


def is_environment(name):
    return name.split(":")[0] in ENVIRONMENT


def all_protocols():
    return [Protocol(path) for path in sorted(FOLDER.glob("*.litmus"))]
