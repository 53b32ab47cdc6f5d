"""The axioms of RC11, and data races.

    coherence    hb; eco? is irreflexive, where eco = (rf | mo | rb)+
    atomicity    rmw & (rb; mo) is empty
    sc           psc is acyclic
    no-thin-air  sb | rf is acyclic: so that the enumerator can add a write before its readers

See "Repairing Sequential Consistency in C/C++11" (Lahav, Vafeiadis, Kang, Hur, Dreyer; PLDI 2017).
The checker calls `accepts` after each event, so the first two need only consider the last one: an
event that is added changes no relation between those that are there.
"""

from .execution import bits


def accepts(x):
    return coherence(x) and atomicity(x) and sc(x)


def coherence(x):
    """No event happens before one that precedes it in eco.

    Nothing happens after the last event. So if one precedes another in eco, and happens after it,
    the latter is the last event `e`, and the former precedes it in hb and follows it in eco. At one
    location eco orders writes as mo does, and a read after the write it reads from and before the
    next write.
    """
    e = len(x.kinds) - 1
    if x.kinds[e] == "F":
        return True
    here = x.position(e)
    if x.kinds[e] == "W":
        # Neither a newer write, nor a read of a newer write.
        return all(x.position(a) < here for a in bits(x.before[e] & x.at[x.locations[e]]))
    return all(x.position(a) <= here for a in bits(x.before[e] & x.at[x.locations[e]]))


def atomicity(x):
    """The write of a read-modify-write follows in mo directly the one that its read reads from."""
    return all(x.position(write) == x.position(read) + 1 for write, read in x.partner.items())


def sc(x):
    """psc is acyclic.

    scb = sb | sbl; hb; sbl | hb & loc | mo | rb, where sbl = sb between different locations
    psc = ([SC] | [SC fence]; hb?); scb; ([SC] | hb?; [SC fence])
        | [SC fence]; (hb | hb; eco; hb); [SC fence]
    """
    if x.sc & (x.sc - 1) == 0:
        return True
    events = range(len(x.kinds))
    other = [x.sb[a] if x.locations[a] is None else x.sb[a] & ~x.at[x.locations[a]] for a in events]
    # hb; sbl
    through = [0] * len(other)
    for a in events:
        for b in bits(x.after[a]):
            through[a] |= other[b]
    known = {}

    def scb(a):
        if a not in known:
            result = x.sb[a]
            for b in bits(other[a]):
                result |= through[b]
            if x.locations[a] is not None:
                result |= x.after[a] & x.at[x.locations[a]] | x.later_writes(a)
            known[a] = result
        return known[a]

    sc_events = list(bits(x.sc))
    fences = [a for a in sc_events if x.kinds[a] == "F"]
    psc = {}
    for a in sc_events:
        reached = scb(a)
        if x.kinds[a] == "F":
            for b in bits(x.after[a]):
                reached |= scb(b)
        found = reached & x.sc
        for f in fences:
            if reached & x.before[f]:
                found |= 1 << f
        if x.kinds[a] == "F":
            found |= fence_order(x, a, fences)
        psc[a] = found
    return acyclic(psc)


def fence_order(x, a, fences):
    """The fences that follow `a` in hb | hb; eco; hb."""
    found = 0
    beyond = 0
    for b in bits(x.after[a]):
        if x.locations[b] is not None:
            beyond |= eco(x, b)
    for f in fences:
        if x.after[a] >> f & 1 or beyond & x.before[f]:
            found |= 1 << f
    return found


def eco(x, a):
    """What follows `a` in (rf | mo | rb)+."""
    result = later = x.later_writes(a)
    for write in bits(later):
        result |= x.readers(write)
    if x.kinds[a] == "W":
        result |= x.readers(a)
    return result


def acyclic(successors):
    """Whether a relation, given as a set of successors for each event, has no cycle."""
    rest = dict(successors)
    alive = 0
    for a in rest:
        alive |= 1 << a
    while rest:
        ends = [a for a, after in rest.items() if not after & alive]
        if not ends:
            return False
        for a in ends:
            del rest[a]
            alive &= ~(1 << a)
    return True


def races(x):
    """The pairs of conflicting accesses, one of them not atomic, of which none happens first."""
    found = []
    for a, kind in enumerate(x.kinds):
        if kind == "F" or "atomic" in x.orders[a] or x.initial >> a & 1:
            continue
        for b in bits(x.at[x.locations[a]] & ~x.initial & ~x.before[a] & ~x.after[a]):
            if b != a and x.threads[a] != x.threads[b] and "W" in (kind, x.kinds[b]):
                found.append((a, b))
    return found
