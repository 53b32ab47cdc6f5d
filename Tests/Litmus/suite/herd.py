"""Compares verdicts with those of herd7, where that is installed.

herd7 is not packaged by Debian. It builds from https://github.com/herd/herdtools7.
"""

import re
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def is_installed():
    return shutil.which("herd7") is not None


# The seconds after which herd7 gives up on a test: it takes minutes for some.
LIMIT = 1
# herd7 runs beside the checker.
WORKERS = ThreadPoolExecutor(max_workers=2)


def ask(programs, with_load_buffering=False):
    """Begins to ask herd7; the answer is that of `verdicts`."""
    return WORKERS.submit(verdicts, programs, with_load_buffering)


def verdicts(programs, with_load_buffering=False):
    """Of each program, whether herd7 finds the bad outcome or a data race, and how many executions
    it finds that have neither; nothing if it takes too long."""
    found = [None] * len(programs)
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for number, program in enumerate(programs):
            path = Path(folder) / f"t{number}.litmus"
            path.write_text(program.rendered(f"t{number}"))
            names.append(str(path))
        listing = Path(folder) / "@all"
        listing.write_text("\n".join(names))
        model = without_no_thin_air(folder) if with_load_buffering else "rc11.cat"
        run = subprocess.run(["herd7", "-model", model, "-timeout", str(LIMIT), str(listing)],
                             capture_output=True, text=True)
    if run.stderr.strip():
        raise SystemExit(f"check: herd7: {run.stderr.strip()}")
    # A race is reported before the observation of its test.
    race = False
    for line in run.stdout.splitlines():
        observed = re.match(r"Observation t(\d+) \w+ (\d+) (\d+)", line)
        if line.startswith("Test "):
            race = False
        elif line.startswith("Flag *undef*"):
            race = True
        elif observed:
            number, bad, good = map(int, observed.groups())
            found[number] = (race or bad > 0, good)
    return found


def without_no_thin_air(folder):
    """RC11 without its axiom that sb | rf is acyclic: C++ allows some of the executions that it
    excludes, and ARM64 has them. Our enumerator cannot build them."""
    library = subprocess.run(["herd7", "-libdir"], capture_output=True, text=True).stdout.strip()
    text = (Path(library) / "rc11.cat").read_text()
    path = Path(folder) / "rc11-with-load-buffering.cat"
    path.write_text(re.sub(r"^acyclic \(sb \| rf\).*$", "", text, flags=re.MULTILINE))
    return str(path)


def differences(programs, ours, theirs):
    """The programs on which our verdicts and those of herd7 differ; the number of those compared.

    If the outcome is forbidden, the numbers of executions must be equal too.
    """
    wrong = []
    compared = 0
    for program, verdict, answer in zip(programs, ours, theirs):
        if answer is None:
            continue
        compared += 1
        is_bad, count = answer
        if verdict.is_bad != is_bad or not is_bad and verdict.executions != count:
            wrong.append(f"{program.name}: {verdict.word}, {verdict.executions} executions; herd7: "
                         f"{'allowed or a race' if is_bad else f'forbidden, {count} executions'}")
    return wrong, compared
