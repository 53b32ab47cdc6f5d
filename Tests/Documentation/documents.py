"""Reads the programs of a document."""

import re
from dataclasses import dataclass, field
from pathlib import Path

CONTINUES = "// Continues the program above."
NOT_COMPILED = "// Not compiled"
REACTIVE = "// Not compiled in CI: only with --reactive."
LANGUAGES = ["swift", "text", "sh", "console", "objc"]


class DocumentError(Exception):
    """What is wrong with a document, and where."""


@dataclass
class Program:
    """A program that a document shows, and what it prints."""

    document: str
    line: int
    source: str
    lines: list = field(default_factory=list)  # the line of the document of each line of the source
    output: str = ""
    may_print: bool = False  # something that the document does not show

    @property
    def place(self):
        return f"{self.document}:{self.line}"

    @property
    def is_not_compiled(self):
        return self.source.startswith(NOT_COMPILED)

    @property
    def is_reactive(self):
        """Whether the program uses the libraries that only `--reactive` fetches."""
        return self.source.startswith(REACTIVE)

    @property
    def imports(self):
        return set(re.findall(r"^(?:\w+ )?import (\w+)", self.source, re.MULTILINE))

    @property
    def kind(self):
        if self.source.startswith("// swift-tools-version"):
            return "manifest"
        if "Testing" in self.imports:
            return "tests"
        return "library" if "@main" in self.source else "program"

    @property
    def shows_failure(self):
        """Whether the output has the sign with which Swift Testing reports a failed test."""
        return "✘" in self.output

    def with_page_lines(self, diagnostics):
        """Names the lines of the document in place of those of the source."""
        def page_line(match):
            number = int(match[1])
            line = self.lines[number - 1] if number <= len(self.lines) else self.line
            return f"{self.document}:{line}:"
        return re.sub(r"\S*(?:main|Tests)\.swift:(\d+):", page_line, diagnostics)


@dataclass
class Block:
    """A fenced block."""

    language: str
    line: int  # of the first line inside
    text: str


def read_document(path, name):
    """The programs of the document at `path`."""
    if path.suffix == ".tutorial":
        return read_tutorial(path, name)
    check_links(path, name)
    programs, current = [], None
    for block in blocks(path, name):
        if block.language == "swift":
            current = program(block, current, name)
            programs.append(current)
        elif block.language == "text":
            if current is None:
                raise DocumentError(f"{name}:{block.line - 1}: is not below a program that prints it")
            if not block.text.replace("…", "").strip():
                raise DocumentError(f"{name}:{block.line - 1}: the output shows nothing")
            current.output += block.text
    return programs


def check_links(path, name):
    """Each link to a file leads to one. DocC checks the links between its pages."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        for link in re.findall(r"\]\(([^)#:]+)\)|src(?:set)?=\"([^\":]+)\"", line):
            file = link[0] or link[1]
            if path.parent.suffix != ".docc" and not (path.parent / file).exists():
                raise DocumentError(f"{name}:{number}: there is no {file}")


def program(block, above, name):
    """The program that a `swift` block shows, with the one above it if the block continues that."""
    lines = list(range(block.line, block.line + block.text.count("\n")))
    result = Program(name, block.line - 1, block.text, lines)
    if block.text.startswith(CONTINUES):
        if above is None:
            raise DocumentError(f"{name}:{block.line - 1}: there is no program above to continue")
        result.source = above.source + block.text
        result.lines = above.lines + lines
        result.output = above.output
    return result


def blocks(path, name):
    """The fenced blocks of a document."""
    opening = None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        fence = re.match(r"\s*```(.*)$", line)
        if re.match(r"\s*~~~", line):
            raise DocumentError(f"{name}:{number}: a block begins with ```")
        if fence is None:
            if opening is not None:
                opening.text += line + "\n"
        elif opening is not None:
            yield opening
            opening = None
        elif not fence[1].strip():
            raise DocumentError(f"{name}:{number}: the block has no language")
        elif fence[1].strip() not in LANGUAGES:
            raise DocumentError(
                f"{name}:{number}: '{fence[1].strip()}' is not one of {', '.join(LANGUAGES)}")
        else:
            opening = Block(fence[1].strip(), number + 1, "")
    if opening is not None:
        raise DocumentError(f"{name}:{opening.line - 1}: the block has no end")


def read_tutorial(path, name):
    """The code files of a tutorial. A file that ends with `.txt` is the output of the step before it;
    without one a step may print anything, and must end."""
    programs = []
    resources = {file.name: file for file in path.parent.parent.rglob("Resources/**/*")}
    unused = {file for file in resources if Path(file).suffix in (".swift", ".txt", ".sh")}
    for tutorial in path.parent.glob("*.tutorial"):
        unused = {file for file in unused if file not in tutorial.read_text()}
    if unused:
        raise DocumentError(f"{name}: no step shows {', '.join(sorted(unused))}")
    for number, line in enumerate(path.read_text().splitlines(), 1):
        step = re.search(r'@Code\(name: "([^"]*)", file: "?([^")]*)"?', line)
        if step is None:
            continue
        if step[2] not in resources:
            raise DocumentError(f"{name}:{number}: there is no {step[2]} in Resources")
        text = resources[step[2]].read_text()
        if step[2].endswith(".txt"):
            if not programs:
                raise DocumentError(f"{name}:{number}: no step above prints {step[2]}")
            programs[-1].output, programs[-1].may_print = text, False
        elif step[2].endswith(".swift"):
            result = Program(step[2], 1, text, list(range(1, text.count("\n") + 2)))
            result.may_print = True
            programs.append(result)
    return programs
