"""Reads the examples in doc comments, and makes one source of them that the compiler checks."""

import re
from dataclasses import dataclass
from pathlib import Path

from documents import DocumentError

CONTEXT = Path(__file__).parent / "context.swift"
SECTION = re.compile(r"^// In (\S+\.swift)\n", re.MULTILINE)


@dataclass
class Example:
    """A `swift` block of a doc comment."""

    source: str  # the name of the file
    line: int  # of the first line inside
    text: str


def read_comments(path, name):
    """The examples of a source."""
    examples, opening, language = [], None, None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        comment = re.match(r"\s*/// ?(.*)$", line)
        if comment is None:
            if opening is not None:
                raise DocumentError(f"{name}:{opening.line - 1}: the block has no end")
            continue
        text = comment[1]
        if not text.startswith("```"):
            if opening is not None:
                opening.text += text + "\n"
        elif opening is None:
            language = text[3:].strip()  # none: a drawing
            opening = Example(name, number + 1, "")
        else:
            if language == "swift":
                examples.append(opening)
            opening = None
    return examples


class Context:
    """The declarations that examples use."""

    def __init__(self):
        text = CONTEXT.read_text()
        head, *sections = SECTION.split(text)
        self.head = head
        self.lines = {}
        self.sections = dict(zip(sections[::2], sections[1::2]))
        for match in SECTION.finditer(text):
            if match[1] in self.lines:
                raise DocumentError(f"{CONTEXT.name}: there are two sections for {match[1]}")
            self.lines[match[1]] = text[:match.end()].count("\n") + 1

    def unused(self, examples):
        """What is wrong with the sections: each belongs to a source with an example."""
        names = {Path(example.source).name for example in examples}
        return [f"{CONTEXT.name}:{self.lines[name]}: there is no example in {name}"
                for name in self.sections if name not in names]

    def program(self, examples):
        """One source with all examples, each in a scope of its own and with the lines of its file."""
        parts = [located(str(CONTEXT), 1, self.head)]
        for number, example in enumerate(examples):
            name = Path(example.source).name
            section = self.sections.get(name, "")
            around = located(str(CONTEXT), self.lines.get(name, 1), section) if section else ""
            parts.append(self.fragment(number, example, around))
        return "\n".join(parts)

    def fragment(self, number, example, around):
        text = without_placeholders(example.text)
        at_file_scope = ""
        if text.startswith(("extension ", "@Multicast\n")):  # which a function may not contain
            end = text.index("\n}\n") + 3
            at_file_scope = located(example.source, example.line, text[:end])
            text = "\n" * text[:end].count("\n") + text[end:]
            if not text.strip():
                return at_file_scope
        text = located(example.source, example.line, text)
        if example.text.startswith(("@Test", "@main")):  # the same
            return f"struct Example{number} {{\n{around}{text}}}"
        # A loop, for examples with `continue`.
        return (f"{at_file_scope}func example{number}() async throws {{\nfor _ in 0..<1 {{\n"
                f"{around}{text}}}\n}}")


def located(file, line, text):
    return f'#sourceLocation(file: "{file}", line: {line})\n{text}\n#sourceLocation()\n'


def without_placeholders(text):
    """`…` as a line of its own, or as all that a closure or a loop contains, stands for code that is left
    out."""
    text = re.sub(r"^(\s*)…", r"\1", text, flags=re.MULTILINE)
    return text.replace("{ … }", "{ }")
