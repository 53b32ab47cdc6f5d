"""A graph of events, which grows by one event at a time.

Events are numbered in the order in which they are added, which is an order of program order and
reads-from: a write is added before the reads that read from it. So when an event is added, all
that happens before it is in the graph. Sets of events are integers: bit n is event n.

The relations, in the words of "Repairing Sequential Consistency in C/C++11" (Lahav, Vafeiadis,
Kang, Hur, Dreyer; PLDI 2017):

    sb   sequenced before: the order of the program, and the initial writes before everything
    rf   reads from: `source` of a read
    mo   modification order: `order[location]`, the writes of a variable, oldest first
    rb   reads before: from a read to the writes that are newer than the one it read
    rmw  from the read of a read-modify-write to its write: `partner`
    sw   synchronizes with: from a release to an acquire that reads from its release sequence
    hb   happens before: (sb | sw)+
"""


class Execution:
    # With the release sequences of C++20, which end at another store of the same thread.
    cpp20 = False

    def __init__(self, initial):
        self.kinds = []
        self.threads = []
        self.locations = []
        self.orders = []
        self.values = []
        self.sb = []          # the events after it in sb
        self.before = []      # the events before it in hb
        self.after = []       # the events after it in hb
        self.source = {}      # rf, of each read
        self.partner = {}     # rmw, of each write of a read-modify-write
        self.order = {}       # mo, of each location
        self.at = {}          # the events at each location
        self.views = []       # of each write: what happens before a thread that acquires it
        self.thread_events = {}
        self.last = {}
        self.acquirable = {}  # of each thread: what its next acquire fence acquires
        self.released = {}    # of each thread: what its last release fence releases
        self.initial = 0
        self.sc = 0
        for location, value in initial.items():
            event = self.add("W", None, location, frozenset(), value)
            self.order[location] = [event]
            self.initial |= 1 << event

    def copy(self):
        new = object.__new__(Execution)
        new.kinds = self.kinds[:]
        new.threads = self.threads[:]
        new.locations = self.locations[:]
        new.orders = self.orders[:]
        new.values = self.values[:]
        new.sb = self.sb[:]
        new.before = self.before[:]
        new.after = self.after[:]
        new.source = self.source.copy()
        new.partner = self.partner.copy()
        new.order = {location: writes[:] for location, writes in self.order.items()}
        new.at = self.at.copy()
        new.views = self.views[:]
        new.thread_events = self.thread_events.copy()
        new.last = self.last.copy()
        new.acquirable = self.acquirable.copy()
        new.released = self.released.copy()
        new.initial = self.initial
        new.sc = self.sc
        return new

    # --- Adding events

    def add(self, kind, thread, location, order, value):
        event = len(self.kinds)
        bit = 1 << event
        self.kinds.append(kind)
        self.threads.append(thread)
        self.locations.append(location)
        self.orders.append(order)
        self.values.append(value)
        self.sb.append(0)
        self.after.append(0)
        self.views.append(0)
        if location is not None:
            self.at[location] = self.at.get(location, 0) | bit
        if "sc" in order:
            self.sc |= bit
        before = 0
        if thread is not None:
            previous = self.thread_events.get(thread, self.initial)
            for earlier in bits(previous):
                self.sb[earlier] |= bit
            before = previous
            if thread in self.last:
                before |= self.before[self.last[thread]]
            self.thread_events[thread] = previous | bit
            self.last[thread] = event
        self.before.append(0)
        self.happens_before(before, event)
        return event

    def happens_before(self, before, event):
        """`before` is closed: with each event it has what happens before that."""
        for earlier in bits(before & ~self.before[event]):
            self.after[earlier] |= 1 << event
        self.before[event] |= before

    def add_read(self, thread, location, order, source):
        event = self.add("R", thread, location, order, self.values[source])
        self.source[event] = source
        if "atomic" in order:
            view = self.views[source]
            self.acquirable[thread] = self.acquirable.get(thread, 0) | view
            if "acq" in order:
                self.happens_before(view, event)
        return event

    def add_write(self, thread, location, order, value, position, read=None):
        """Adds a write at this position of mo. `read` is its partner, if it has one."""
        event = self.add("W", thread, location, order, value)
        writes = self.order[location] = self.order[location][:]
        writes.insert(position, event)
        view = 0
        if "atomic" in order:
            view = self.released.get(thread, 0)
            if "rel" in order:
                view |= self.before[event] | 1 << event
            if read is not None:
                self.partner[event] = read
                view |= self.views[self.source[read]]
            if not self.cpp20:
                # A release sequence continues with later stores of the same thread.
                own = self.thread_events[thread] & self.at[location] & ~self.initial
                for earlier in bits(own):
                    if self.kinds[earlier] == "W" and "rel" in self.orders[earlier]:
                        view |= self.before[earlier] | 1 << earlier
        self.views[event] = view
        return event

    def add_fence(self, thread, order):
        event = self.add("F", thread, None, order, 0)
        if "acq" in order:
            self.happens_before(self.acquirable.get(thread, 0), event)
        if "rel" in order:
            self.released[thread] = self.before[event] | 1 << event
        return event

    # --- Relations

    def position(self, event):
        """The position in mo of a write, or of the write that a read reads from."""
        write = self.source.get(event, event)
        return self.order[self.locations[event]].index(write)

    def later_writes(self, event):
        """mo of a write, rb of a read: the writes after it, or after the one it reads from."""
        result = 0
        for write in self.order[self.locations[event]][self.position(event) + 1:]:
            result |= 1 << write
        return result

    def readers(self, write):
        result = 0
        for read, source in self.source.items():
            if source == write:
                result |= 1 << read
        return result

    def final(self):
        """The last value of each location."""
        return {location: self.values[writes[-1]] for location, writes in self.order.items()}


def bits(mask):
    """The members of a set."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
