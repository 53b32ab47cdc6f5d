"""Whether the bad outcome of a test, or a data race, is possible."""

from dataclasses import dataclass

from . import model
from .enumerator import Enumerator
from .program import satisfied


@dataclass
class Verdict:
    # Whether an execution has the bad outcome, or a data race.
    is_bad: bool
    is_race: bool
    # The number of complete executions, and of graphs that the model was asked about. If a bad one
    # was found, those before it.
    executions: int
    visited: int
    # An execution that shows it.
    witness: object = None

    @property
    def word(self):
        return "race" if self.is_race else "allowed" if self.is_bad else "forbidden"


def verdict(program, accepts=model.accepts, with_races=True):
    """Stops at the first bad execution."""
    enumerator = Enumerator(program, accepts)
    executions = 0
    for x, registers in enumerator.executions():
        executions += 1
        race = bool(with_races and model.races(x))
        if race or satisfied(program.bad, registers, x.final()):
            return Verdict(True, race, executions, enumerator.visited, (x, registers))
    return Verdict(False, False, executions, enumerator.visited)
