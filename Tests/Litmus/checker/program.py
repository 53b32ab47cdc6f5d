"""What a litmus test consists of."""

from dataclasses import dataclass, field, replace

# A memory order is the set of its properties; a plain access has none.
ORDERS = {
    "relaxed": frozenset({"atomic"}),
    "acquire": frozenset({"atomic", "acq"}),
    "release": frozenset({"atomic", "rel"}),
    "acq_rel": frozenset({"atomic", "acq", "rel"}),
    "seq_cst": frozenset({"atomic", "acq", "rel", "sc"}),
    "plain": frozenset(),
}

# The orders that are one step weaker. A fence that is weakened below the last step is removed.
WEAKER = {
    "load": {"seq_cst": ["acquire"], "acquire": ["relaxed"]},
    "store": {"seq_cst": ["release"], "release": ["relaxed"]},
    "rmw": {
        "seq_cst": ["acq_rel"], "acq_rel": ["acquire", "release"],
        "acquire": ["relaxed"], "release": ["relaxed"],
    },
    "fence": {
        "seq_cst": ["acq_rel"], "acq_rel": ["acquire", "release"],
        "acquire": ["none"], "release": ["none"],
    },
}


@dataclass(frozen=True)
class Instruction:
    """One step of a thread.

    kind      load, store, rmw, cas, fence; assign, branch (to `target` if `value` is 0), jump
    register  the register that gets the result
    location  the shared variable
    value     an expression: of the value that is stored or assigned, or of the condition. The
              value of an rmw is a function of the value read, which it names `%`
    order     a key of ORDERS; of a cas: of its success
    failure   the order of the failure of a cas
    expected  the expected value of a cas, an expression
    line      the line in the file
    sources   what the operation stands for: see `annotations` in the parser
    spans     where the text has its orders; of a fence, then the whole statement
    """
    kind: str
    register: str = ""
    location: str = ""
    value: object = None
    order: str = ""
    failure: str = ""
    expected: object = None
    target: int = 0
    line: int = 0
    sources: tuple = ()
    spans: tuple = ()

    @property
    def family(self):
        """The key of WEAKER."""
        return "rmw" if self.kind == "cas" else self.kind

    @property
    def is_ordered(self):
        return bool(self.order) and self.order != "plain"


@dataclass
class Program:
    name: str
    description: str
    # Of each shared variable, its initial value.
    initial: dict
    # Of each thread, its instructions.
    threads: list
    # An expression over registers, written (thread, name), and the final values of variables.
    bad: object
    # The text, for herd7.
    text: str = ""
    path: str = ""
    locations: list = field(default_factory=list)

    def ordered(self):
        """Every atomic operation and fence, as (thread, index, instruction)."""
        for thread, code in enumerate(self.threads):
            for index, instruction in enumerate(code):
                if instruction.is_ordered:
                    yield thread, index, instruction

    def with_orders(self, orders):
        """A copy in which the operations (thread, index) have these orders."""
        threads = [list(code) for code in self.threads]
        for (thread, index), order in orders.items():
            old = threads[thread][index]
            failure = failure_order(order) if old.kind == "cas" else ""
            threads[thread][index] = replace(old, order=order, failure=failure)
        return replace(self, threads=threads)

    def rendered(self, name):
        """The text for herd7, with this name and the orders that the operations have now."""
        edits = [(0, len(self.text.split("\n", 1)[0]), f"C {name}")]
        for _, _, step in self.ordered():
            if step.order == "none":
                edits.append((*step.spans[-1], ""))
                continue
            edits.append((*step.spans[0], f"memory_order_{step.order}"))
            if step.kind == "cas":
                edits.append((*step.spans[1], f"memory_order_{step.failure}"))
        text = self.text
        for start, end, new in sorted(edits, reverse=True):
            text = text[:start] + new + text[end:]
        return text


def failure_order(success):
    """The order of the failure of a compare-and-exchange, as Swift derives it."""
    derived = {"seq_cst": "seq_cst", "acq_rel": "acquire", "acquire": "acquire"}
    return derived.get(success, "relaxed")


def evaluate(expression, registers):
    """The value of an expression: a number, a name, or (operator, operand, operand)."""
    if isinstance(expression, int):
        return expression
    if isinstance(expression, str):
        return registers.get(expression, 0)
    operator, left, right = expression
    left, right = evaluate(left, registers), evaluate(right, registers)
    return OPERATORS[operator](left, right)


OPERATORS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    ">": lambda a, b: int(a > b),
}


def satisfied(condition, registers, memory):
    """Whether a final state satisfies the condition of a test."""
    kind = condition[0]
    if kind == "and":
        return all(satisfied(part, registers, memory) for part in condition[1:])
    if kind == "or":
        return any(satisfied(part, registers, memory) for part in condition[1:])
    if kind == "not":
        return not satisfied(condition[1], registers, memory)
    if kind == "register":
        _, thread, name, value = condition
        return registers[thread].get(name, 0) == value
    _, name, value = condition
    return memory[name] == value
