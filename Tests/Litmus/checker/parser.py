"""Reads litmus tests in the C format of herd7: the part of it that the tests use.

    C name
    "description"
    { x = 0; y = 1; }
    P0 (atomic_int* x, int* y) {
      // @ File.function variable.operation
      int r0 = atomic_load_explicit(x, memory_order_acquire);
      if (r0 == 1) { *y = 2; } else { atomic_thread_fence(memory_order_seq_cst); }
      int r1 = atomic_fetch_add_explicit(x, 1, memory_order_relaxed);
    }
    exists (0:r0=1 /\\ y=2)

Variables are `atomic_int` or `int`; those that are not mentioned in braces are 0. A memory
operation is a statement of its own. There are no loops. A compare-and-exchange is written as in
herd7, where the expected value is a variable: `int` variables with a name `expected...` belong to
one thread and are treated as registers.
"""

import re
from pathlib import Path

from .program import Instruction, Program

TOKEN = re.compile(
    r"\s+|(?P<comment>//[^\n]*|\(\*(?:.|\n)*?\*\)|/\*(?:.|\n)*?\*/)"
    r"|(?P<string>\"[^\"]*\")|(?P<name>[A-Za-z_]\w*)|(?P<number>\d+)"
    r"|(?P<symbol>/\\|\\/|==|!=|[-+&|<>=(){};,*:~\[\]])")
ORDER = {name: name for name in ("relaxed", "acquire", "release", "acq_rel", "seq_cst")}
FETCH = {"atomic_fetch_add_explicit": "+", "atomic_fetch_sub_explicit": "-",
         "atomic_fetch_or_explicit": "|", "atomic_fetch_and_explicit": "&"}
CAS = ("atomic_compare_exchange_strong_explicit", "atomic_compare_exchange_weak_explicit")


class LitmusError(Exception):
    pass


def parse(path):
    path = Path(path)
    return Parser(path.read_text(), str(path)).program()


class Parser:
    def __init__(self, text, path=""):
        self.text = text
        self.path = path
        self.tokens = []
        self.position = 0
        self.notes = annotations(text)
        self.code = []
        self.registers = set()
        self.variables = {}
        self.tokenize()

    def tokenize(self):
        # The first line, which names the test, may contain any characters.
        first = self.text.split("\n", 1)[0]
        if not first.startswith("C "):
            raise LitmusError(f"{self.path}:1: a test begins with `C name`")
        self.name = first[2:].strip()
        at = len(first)
        line = 1
        while at < len(self.text):
            match = TOKEN.match(self.text, at)
            if not match:
                raise LitmusError(f"{self.path}:{line}: cannot read {self.text[at:at + 20]!r}")
            kind = match.lastgroup
            if kind and kind != "comment":
                self.tokens.append((kind, match.group(), line, at))
            line += match.group().count("\n")
            at = match.end()
        self.tokens.append(("end", "", line, at))

    # --- Tokens

    @property
    def next(self):
        return self.tokens[self.position][1]

    @property
    def line(self):
        return self.tokens[self.position][2]

    def take(self, kind=None):
        token = self.tokens[self.position]
        if kind and token[0] != kind:
            self.fail(f"a {kind} must stand where {token[1]!r} stands")
        self.position += 1
        return token[1]

    def accept(self, text):
        if self.next == text and self.tokens[self.position][0] != "string":
            self.position += 1
            return True
        return False

    def expect(self, text):
        if not self.accept(text):
            self.fail(f"{text!r} must stand where {self.next!r} stands")

    def fail(self, message):
        self.fail_at(self.line, message)

    def fail_at(self, line, message):
        raise LitmusError(f"{self.path}:{line}: {message}")

    # --- The whole test

    def program(self):
        description = ""
        while self.tokens[self.position][0] == "string":
            description += self.take()[1:-1]
        initial = self.initial()
        threads = []
        while self.next.startswith("P") and self.next[1:].isdigit():
            if self.next != f"P{len(threads)}":
                self.fail(f"the next thread must be P{len(threads)}")
            threads.append(self.thread())
        self.expect("exists")
        bad = self.condition()
        if self.tokens[self.position][0] != "end":
            self.fail(f"nothing may follow the condition, but {self.next!r} does")
        self.check_condition(bad, threads)
        for variable in self.variables:
            initial.setdefault(variable, 0)
        unknown = set(initial) - set(self.variables)
        if unknown:
            self.fail(f"no thread has {', '.join(sorted(unknown))}")
        for line in self.notes:
            self.fail_at(line, "`// @` must stand before an atomic operation or a fence")
        return Program(self.name, description, initial, threads, bad, self.text, self.path,
                       sorted(initial))

    def check_condition(self, condition, threads):
        """A register that no thread has would be 0, and the outcome might never come."""
        kind = condition[0]
        if kind in ("and", "or", "not"):
            for part in condition[1:]:
                self.check_condition(part, threads)
        elif kind == "register":
            _, thread, name, _ = condition
            if thread >= len(threads) or name not in {step.register for step in threads[thread]}:
                self.fail(f"thread {thread} has no register {name}")
        elif condition[1] not in self.variables:
            self.fail(f"there is no variable {condition[1]}")

    def initial(self):
        values = {}
        self.expect("{")
        while not self.accept("}"):
            bracket = self.accept("[")
            variable = self.take("name")
            if bracket:
                self.expect("]")
            self.expect("=")
            values[variable] = int(self.take("number"))
            self.accept(";")
        return values

    def thread(self):
        self.take()
        self.code = []
        self.registers = set()
        self.local = set()
        self.shared = set()
        self.expect("(")
        while not self.accept(")"):
            kind = self.take("name")
            if kind not in ("atomic_int", "int"):
                self.fail(f"a variable is atomic_int or int, not {kind}")
            self.expect("*")
            variable = self.take("name")
            if variable.startswith("expected"):
                self.local.add(variable)
            elif self.variables.setdefault(variable, kind) != kind:
                self.fail(f"{variable} is {self.variables[variable]} in another thread")
            self.shared.add(variable)
            self.accept(",")
        self.block()
        return self.code

    def block(self):
        self.expect("{")
        while not self.accept("}"):
            self.statement()

    # --- Statements

    def emit(self, kind, line, **values):
        if values.get("order") not in (None, "plain"):
            values["sources"] = self.notes.pop(line, ())
            values["spans"] = tuple(self.spans)
        if kind == "fence":
            # All of it, because a fence can be removed.
            values["spans"] += ((self.start, self.text.index(";", self.start) + 1),)
        self.code.append(Instruction(kind=kind, line=line, **values))

    def statement(self):
        line = self.line
        self.spans = []
        self.start = self.tokens[self.position][3]
        if self.accept("if"):
            self.conditional()
        elif self.accept("atomic_store_explicit"):
            self.expect("(")
            location = self.atomic()
            self.expect(",")
            value = self.expression()
            self.emit("store", line, location=location, value=value, order=self.last_order())
            self.expect(";")
        elif self.accept("atomic_thread_fence"):
            self.expect("(")
            self.emit("fence", line, order=self.order())
            self.expect(")")
            self.expect(";")
        elif self.accept("*"):
            location = self.take("name")
            self.expect("=")
            value = self.expression()
            self.expect(";")
            if location in self.local:
                self.emit("assign", line, register=location, value=value)
            else:
                self.emit("store", line, location=self.plain(location), value=value, order="plain")
        else:
            declares = self.accept("int")
            register = self.take("name")
            if declares:
                self.registers.add(register)
            elif register not in self.registers:
                self.fail(f"{register} is not declared")
            self.expect("=")
            self.assignment(register, line)
            self.expect(";")

    def conditional(self):
        line = self.line
        self.expect("(")
        condition = self.expression()
        self.expect(")")
        branch = len(self.code)
        self.code.append(None)
        self.block()
        if self.accept("else"):
            jump = len(self.code)
            self.code.append(None)
            self.code[branch] = Instruction(
                kind="branch", value=condition, target=len(self.code), line=line)
            self.block()
            self.code[jump] = Instruction(kind="jump", target=len(self.code), line=line)
        else:
            self.code[branch] = Instruction(
                kind="branch", value=condition, target=len(self.code), line=line)

    def assignment(self, register, line):
        if self.accept("atomic_load_explicit"):
            self.expect("(")
            location = self.atomic()
            self.emit("load", line, register=register, location=location, order=self.last_order())
        elif self.next in FETCH:
            operator = FETCH[self.take()]
            self.expect("(")
            location = self.atomic()
            self.expect(",")
            value = (operator, "%", self.expression())
            self.emit("rmw", line, register=register, location=location, value=value,
                      order=self.last_order())
        elif self.accept("atomic_exchange_explicit"):
            self.expect("(")
            location = self.atomic()
            self.expect(",")
            value = self.expression()
            self.emit("rmw", line, register=register, location=location, value=value,
                      order=self.last_order())
        elif self.next in CAS:
            self.take()
            self.expect("(")
            location = self.atomic()
            self.expect(",")
            expected = self.take("name")
            if expected not in self.local:
                self.fail("the expected value must be a variable expected... of the thread")
            self.expect(",")
            value = self.expression()
            self.expect(",")
            order = self.order()
            failure = self.last_order()
            self.emit("cas", line, register=register, location=location, value=value,
                      expected=expected, order=order, failure=failure)
        elif self.accept("*"):
            location = self.take("name")
            if location in self.local:
                self.emit("assign", line, register=register, value=location)
            else:
                self.emit("load", line, register=register, location=self.plain(location),
                          order="plain")
        else:
            self.emit("assign", line, register=register, value=self.expression())

    def atomic(self):
        location = self.take("name")
        if location not in self.shared or self.variables.get(location) != "atomic_int":
            self.fail(f"{location} is not an atomic_int of this thread")
        return location

    def plain(self, location):
        if location not in self.shared or self.variables.get(location) != "int":
            self.fail(f"{location} is not an int of this thread")
        return location

    def order(self):
        start = self.tokens[self.position][3]
        name = self.take("name")
        self.spans.append((start, start + len(name)))
        order = ORDER.get(name.removeprefix("memory_order_"))
        if not name.startswith("memory_order_") or not order:
            self.fail(f"{name} is not a memory order")
        return order

    def last_order(self):
        self.expect(",")
        order = self.order()
        self.expect(")")
        return order

    # --- Expressions: all operators have one precedence, so nested ones need parentheses.

    def expression(self):
        left = self.operand()
        if self.next in ("+", "-", "&", "|", "==", "!=", "<", ">"):
            operator = self.take()
            return (operator, left, self.operand())
        return left

    def operand(self):
        if self.accept("("):
            inner = self.expression()
            self.expect(")")
            return inner
        if self.tokens[self.position][0] == "number":
            return int(self.take())
        name = self.take("name")
        if name not in self.registers:
            self.fail(f"{name} is not a register")
        return name

    # --- The condition

    def condition(self):
        parts = [self.conjunction()]
        while self.accept("\\/"):
            parts.append(self.conjunction())
        return parts[0] if len(parts) == 1 else ("or", *parts)

    def conjunction(self):
        parts = [self.atom()]
        while self.accept("/\\"):
            parts.append(self.atom())
        return parts[0] if len(parts) == 1 else ("and", *parts)

    def atom(self):
        if self.accept("~"):
            return ("not", self.atom())
        if self.accept("("):
            inner = self.condition()
            self.expect(")")
            return inner
        if self.tokens[self.position][0] == "number":
            thread = int(self.take())
            self.expect(":")
            name = self.take("name")
            self.expect("=")
            return ("register", thread, name, int(self.take("number")))
        name = self.take("name")
        self.expect("=")
        return ("memory", name, int(self.take("number")))


def annotations(text):
    """Of each line of code, what the comment lines `// @ ...` just before it say."""
    notes = {}
    waiting = []
    for number, line in enumerate(text.split("\n"), 1):
        note = re.match(r"\s*// @ (.*\S)", line)
        if note:
            waiting.append(note.group(1))
        elif line.strip() and not re.match(r"\s*//", line):
            if waiting:
                notes[number] = tuple(waiting)
            waiting = []
    return notes
