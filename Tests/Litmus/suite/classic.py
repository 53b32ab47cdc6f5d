"""Validates the checker: the classic tests, with every combination of orders.

`classic/NAME.litmus` is a test, and `classic/verdicts.toml` has the weakest combinations of orders
with which its outcome is forbidden, in the order of its operations. A stronger combination is
forbidden too, and every other one is allowed.
"""

import itertools
import tomllib
from pathlib import Path

from checker.parser import parse
from checker.program import ORDERS
from checker.verdict import verdict

FOLDER = Path(__file__).resolve().parents[1] / "classic"
CHOICES = {
    "load": ["relaxed", "acquire", "seq_cst"],
    "store": ["relaxed", "release", "seq_cst"],
    "rmw": ["relaxed", "acquire", "release", "acq_rel", "seq_cst"],
    "cas": ["relaxed", "acquire", "release", "acq_rel", "seq_cst"],
    "fence": ["none", "acquire", "release", "acq_rel", "seq_cst"],
}
SHORT = {"none": "-", "relaxed": "rlx", "acquire": "acq", "release": "rel", "acq_rel": "ar",
         "seq_cst": "sc"}
LONG = {short: order for order, short in SHORT.items()}


class Family:
    """A classic test, whose operations have varying orders."""

    def __init__(self, name, row):
        self.name = name
        self.source = row["source"]
        self.program = parse(FOLDER / f"{name}.litmus")
        self.operations = list(self.program.ordered())
        self.varied = [
            (thread, index, step) for thread, index, step in self.operations
            if step.kind in row.get("varied", CHOICES)]
        self.minimal = [tuple(LONG[word] for word in line.split()) for line in row["forbidden"]]
        for line in self.minimal:
            if len(line) != len(self.varied):
                raise SystemExit(f"check: verdicts.toml: {name} has {len(self.varied)} orders")

    def combinations(self):
        return itertools.product(*(CHOICES[step.kind] for _, _, step in self.varied))

    def sample(self):
        """The combinations at the border between allowed and forbidden, and every 16th one."""
        border = set(self.minimal)
        for line in self.minimal:
            for place, order in enumerate(line):
                choices = CHOICES[self.varied[place][2].kind]
                border |= {(*line[:place], weaker, *line[place + 1:]) for weaker in choices
                           if weaker != order and weak_or_equal(weaker, order)}
        return {combination for number, combination in enumerate(self.combinations())
                if number % 16 == 0 or combination in border}

    def with_orders(self, combination):
        return self.program.with_orders({
            (thread, index): order
            for (thread, index, _), order in zip(self.varied, combination)})

    def expected(self, combination):
        return any(
            all(weak_or_equal(least, order) for least, order in zip(line, combination))
            for line in self.minimal)


def weak_or_equal(least, order):
    return least == "none" or order != "none" and ORDERS[least] <= ORDERS[order]


def families():
    rows = tomllib.loads((FOLDER / "verdicts.toml").read_text())
    files = {path.stem for path in FOLDER.glob("*.litmus")}
    if files != set(rows):
        raise SystemExit(f"check: verdicts.toml and the files of classic/ differ: "
                         f"{', '.join(sorted(files ^ set(rows)))}")
    return [Family(name, row) for name, row in sorted(rows.items())]


def differences(family, run=verdict):
    """The combinations whose verdict is not the published one; the number of all of them."""
    wrong = []
    count = 0
    for combination in family.combinations():
        count += 1
        found = run(family.with_orders(combination))
        if found.is_bad == family.expected(combination):
            wrong.append((combination, found.word))
    return wrong, count
