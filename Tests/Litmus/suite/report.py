"""Prints tables, and an execution that shows an outcome."""


def table(header, rows):
    """Columns as wide as their contents; those whose header begins with `>` are aligned right."""
    right = [title.startswith(">") for title in header]
    lines = [[title.lstrip(">") for title in header]]
    lines += [[str(cell) for cell in row] for row in rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    for line in lines:
        cells = [cell.rjust(width) if aligned else cell.ljust(width)
                 for cell, width, aligned in zip(line, widths, right)]
        print("  ".join(cells).rstrip())


def witness(verdict):
    """The events of each thread, in order, and where each read reads from."""
    x, registers = verdict.witness
    names = {}
    for event, thread in enumerate(x.threads):
        if thread is None:
            names[event] = f"initial {x.locations[event]}"
        else:
            place = sum(1 for other in range(event) if x.threads[other] == thread)
            names[event] = f"P{thread}.{place}"
    for thread in range(len(registers)):
        print(f"  P{thread}")
        for event in range(len(x.kinds)):
            if x.threads[event] == thread:
                print(f"    {names[event]:6} {describe(x, event)}"
                      + (f" from {names[x.source[event]]}" if event in x.source else ""))
    for location, writes in sorted(x.order.items()):
        if len(writes) > 2:
            print(f"  order of {location}: {', '.join(names[event] for event in writes)}")


def describe(x, event):
    order = x.orders[event]
    strength = ("seq_cst" if "sc" in order else "acq_rel" if {"acq", "rel"} <= order
                else "acquire" if "acq" in order else "release" if "rel" in order
                else "relaxed" if "atomic" in order else "plain")
    if x.kinds[event] == "F":
        return f"fence {strength}"
    verb = "reads" if x.kinds[event] == "R" else "writes"
    return f"{verb} {x.locations[event]} = {x.values[event]}, {strength}"
