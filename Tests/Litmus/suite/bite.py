"""Shows that the classic tests detect a checker that is wrong: each of these changes alone must
make
some of their verdicts differ from the published ones."""

from contextlib import contextmanager

from checker import execution, model
from checker.enumerator import Enumerator
from checker.execution import Execution
from checker.verdict import verdict

from . import classic


def without_acquire_fences(original):
    def add_fence(self, thread, order):
        return original(self, thread, order - {"acq"})
    return add_fence


def without_release_fences(original):
    def add_fence(self, thread, order):
        return original(self, thread, order - {"rel"})
    return add_fence


def without_sequences(original):
    """A read-modify-write does not continue a release sequence."""
    def add_write(self, thread, location, order, value, position, read=None):
        event = original(self, thread, location, order, value, position, read)
        if read is not None and "rel" not in order:
            self.views[event] = self.released.get(thread, 0)
        return event
    return add_write


def without_waiting(original):
    """A read does not wait for a write that is not there yet."""
    def extend(self, x, threads):
        return original(self, x, threads) if not any(t.excluded for t in threads) else iter(())
    return extend


def at_the_end(original):
    """A write is always the newest one."""
    def writes(self, x, number, step, order, value, read=None):
        for grown in original(self, x, number, step, order, value, read):
            if grown.order[step.location][-1] == len(grown.kinds) - 1:
                yield grown
    return writes


def weak_accesses(original):
    """The axiom of seq_cst for fences alone."""
    def sc(x):
        every = x.sc
        x.sc = sum(1 << event for event in execution.bits(every) if x.kinds[event] == "F")
        try:
            return original(x)
        finally:
            x.sc = every
    return sc


def without_reads_before(original):
    def later_writes(self, event):
        return original(self, event) if self.kinds[event] == "W" else 0
    return later_writes


FAULTS = [
    ("no coherence", model, "coherence", lambda original: lambda x: True),
    ("no atomicity", model, "atomicity", lambda original: lambda x: True),
    ("no order of seq_cst", model, "sc", lambda original: lambda x: True),
    ("no order of seq_cst accesses", model, "sc", weak_accesses),
    ("no order of seq_cst fences through eco", model, "eco", lambda original: lambda x, a: 0),
    ("no reads-before", Execution, "later_writes", without_reads_before),
    ("no data races", model, "races", lambda original: lambda x: []),
    ("no acquire fences", Execution, "add_fence", without_acquire_fences),
    ("no release fences", Execution, "add_fence", without_release_fences),
    ("no release sequences", Execution, "add_write", without_sequences),
    ("reads do not wait for writes", Enumerator, "extend", without_waiting),
    ("writes do not go between others", Enumerator, "writes", at_the_end),
]


@contextmanager
def fault(place, name, make):
    original = getattr(place, name)
    setattr(place, name, make(original))
    try:
        yield
    finally:
        setattr(place, name, original)


def detected_by(place, name, make):
    """The first classic test with a wrong verdict, and its orders; or nothing."""
    with fault(place, name, make):
        for family in sorted(classic.families(), key=lambda family: len(family.varied)):
            for combination in family.combinations():
                if verdict(family.with_orders(combination)).is_bad == family.expected(combination):
                    return family.name, " ".join(classic.SHORT[order] for order in combination)
    return None
