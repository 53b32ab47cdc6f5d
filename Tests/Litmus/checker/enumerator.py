"""Enumerates every complete execution of a program that the model accepts, each once.

Threads take their steps one at a time. A write branches over its positions in modification order. A
read branches over the writes that are there, and over one more case: it waits for a write that is
not there yet. Then the writes that were there are excluded for it, and other threads continue.
Which thread takes the next step depends on the graph alone, so each execution is found on one path.
None is missed, because sb | rf has no cycle: some thread can always take its next step.

The model is asked after each event, because an execution that it rejects stays rejected when it
grows.
"""

from . import model
from .execution import Execution
from .program import ORDERS, evaluate


class Thread:
    __slots__ = ("registers", "index", "excluded")

    def __init__(self, registers=None, index=0, excluded=0):
        self.registers = registers or {}
        self.index = index
        # The writes that the next read must not read from.
        self.excluded = excluded

    def read(self, changes):
        """The thread after its instruction, which changed these registers."""
        return Thread({**self.registers, **changes}, self.index + 1)


class Enumerator:
    """The search. `visited` counts the graphs that the model was asked about."""

    def __init__(self, program, accepts=model.accepts):
        self.program = program
        self.accepts = accepts
        self.visited = 0
        # Of each thread and instruction, the locations that may be written from there on. There are
        # no loops.
        self.may_write = []
        for code in program.threads:
            sets = [frozenset()] * (len(code) + 1)
            for index in range(len(code) - 1, -1, -1):
                step = code[index]
                writes = step.kind in ("store", "rmw", "cas")
                sets[index] = sets[index + 1] | ({step.location} if writes else frozenset())
            self.may_write.append(sets)

    def executions(self):
        """Yields each execution, with the registers of each thread."""
        x = Execution(self.program.initial)
        yield from self.extend(x, [Thread() for _ in self.program.threads])

    def extend(self, x, threads):
        threads = [self.advance(number, thread) for number, thread in enumerate(threads)]
        ready = None
        for number, thread in enumerate(threads):
            step = self.step(number, thread)
            if step is None:
                continue
            if step.kind in ("store", "fence"):
                ready = number
                break
            if ready is None and self.sources(x, thread, step):
                ready = number
        if ready is None:
            if all(self.step(number, thread) is None for number, thread in enumerate(threads)):
                yield x, [thread.registers for thread in threads]
            return
        step = self.step(ready, threads[ready])
        for grown, thread in getattr(self, step.kind)(x, ready, threads[ready], step):
            yield from self.extend(grown, threads[:ready] + [thread] + threads[ready + 1:])
        if step.kind in ("load", "rmw", "cas"):
            others = (self.may_write[number][thread.index]
                      for number, thread in enumerate(threads) if number != ready)
            if any(step.location in locations for locations in others):
                reader = threads[ready]
                waiting = Thread(reader.registers, reader.index, x.at[step.location])
                yield from self.extend(x, threads[:ready] + [waiting] + threads[ready + 1:])

    def step(self, number, thread):
        code = self.program.threads[number]
        return code[thread.index] if thread.index < len(code) else None

    def advance(self, number, thread):
        """The thread at its next access or fence."""
        code = self.program.threads[number]
        index, registers = thread.index, thread.registers
        while index < len(code):
            step = code[index]
            if step.kind == "assign":
                registers = {**registers, step.register: evaluate(step.value, registers)}
                index += 1
            elif step.kind == "jump":
                index = step.target
            elif step.kind == "branch":
                index = index + 1 if evaluate(step.value, registers) else step.target
            elif step.kind == "fence" and step.order == "none":
                index += 1
            else:
                break
        return Thread(registers, index, thread.excluded) if index != thread.index else thread

    @staticmethod
    def sources(x, thread, step):
        return [write for write in x.order[step.location] if not thread.excluded >> write & 1]

    # --- Steps: each yields the graphs that may follow, and the thread

    def check(self, x):
        self.visited += 1
        return self.accepts(x)

    def fence(self, x, number, thread, step):
        grown = x.copy()
        grown.add_fence(number, ORDERS[step.order])
        if self.check(grown):
            yield grown, thread.read({})

    def store(self, x, number, thread, step):
        value = evaluate(step.value, thread.registers)
        for grown in self.writes(x, number, step, ORDERS[step.order], value):
            yield grown, thread.read({})

    def load(self, x, number, thread, step):
        for grown, value in self.reads(x, number, thread, step, ORDERS[step.order]):
            yield grown, thread.read({step.register: value})

    def rmw(self, x, number, thread, step):
        order = ORDERS[step.order]
        for grown, old in self.reads(x, number, thread, step, order - {"rel"}):
            value = evaluate(step.value, {**thread.registers, "%": old})
            read = len(grown.kinds) - 1
            for written in self.writes(grown, number, step, order - {"acq"}, value, read):
                yield written, thread.read({step.register: old})

    def cas(self, x, number, thread, step):
        expected = thread.registers.get(step.expected, 0)
        order = ORDERS[step.order]
        for grown, old in self.reads(x, number, thread, step, order - {"rel"}):
            if old == expected:
                value = evaluate(step.value, thread.registers)
                read = len(grown.kinds) - 1
                for written in self.writes(grown, number, step, order - {"acq"}, value, read):
                    yield written, thread.read({step.register: 1})
        for grown, old in self.reads(x, number, thread, step, ORDERS[step.failure]):
            if old != expected:
                yield grown, thread.read({step.register: 0, step.expected: old})

    def reads(self, x, number, thread, step, order):
        for source in self.sources(x, thread, step):
            grown = x.copy()
            grown.add_read(number, step.location, order, source)
            if self.check(grown):
                yield grown, x.values[source]

    def writes(self, x, number, step, order, value, read=None):
        for position in range(1, len(x.order[step.location]) + 1):
            grown = x.copy()
            grown.add_write(number, step.location, order, value, position, read)
            if self.check(grown):
                yield grown
