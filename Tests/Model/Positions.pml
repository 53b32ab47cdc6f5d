/*
 * A subscriber that reads the log of a hub: EventHub.follow.
 *
 * Stands for EventSequencer.add and EventHub.deliver on the side of two senders, EventHub.follow,
 * HandlerMailbox.drain with LogReader.readToGoal on the side of the consumer, Mailbox.adoptBlock and
 * EventHub.finish.
 *
 * Everything that the log's lock guards is one step, as is everything that the mailbox's lock guards.
 * The entry is registered, and blocked, by one store each. So interleaving the steps gives every
 * behaviour.
 *
 * A signal stands for the events that are in the log when the consumer begins to handle it; the newest
 * of them is its goal. One that has not reached its goal waits again, as the rest of a signal.
 *
 * With BLOCKS the subscriber is blocked and unblocked at some time; with FINISHES the hub finishes.
 *
 * Checked for every interleaving: one consumer at a time runs; when nothing is under way, the subscriber
 * has everything after its start, or was told that it is missing; a consumer that has ended has too.
 * Each of the other names, when defined, misplaces a step; see `check`.
 */

#ifndef EVENTS
#define EVENTS 2
#endif
/* The most events that are retained, and that are read at once. */
#define RETAINED 3
#define SHARE 1

#ifdef FINISHES
#define FINISHERS 1
#else
#define FINISHERS 0
#endif
#ifdef BLOCKS
#define BLOCKERS 1
#else
#define BLOCKERS 0
#endif

/* The log. */
byte newest, undelivered;
bool ended;
#define TRIMMED (newest > RETAINED -> newest - RETAINED : 0)

/* The entry. */
bool registered, blocked;

/* The mailbox: whether a signal and the rest of one wait, whether its consumer must be woken, whether it
 * has finished, and whether everything was delivered after that. */
bool fresh, rest, idle, closed, exhausted;
/* How often the consumer was woken, and how many of it run. */
byte wakes, running;

/* LogReader: the last event that was received, and the goal. */
byte number, goal;
byte ready;

inline wake() {
  if
  :: idle -> idle = false; wakes++
  :: else
  fi
}

/* MailboxState.signal */
inline signal() {
  atomic {
    if
    :: closed || fresh
#ifdef JOINS_THE_REST
    :: !closed && !fresh && rest
    :: !closed && !fresh && !rest -> fresh = true; wake()
#else
    :: !closed && !fresh -> fresh = true; wake()
#endif
    fi
  }
}

/* MailboxState.close */
inline close() {
  atomic {
#ifndef CLOSED_WITHOUT_SIGNAL
    if :: !closed -> fresh = true :: else fi;
#endif
    closed = true;
    wake()
  }
}

inline append() {
  atomic {
    if
    :: ended
    :: !ended -> newest++; undelivered++; isSent = true
    fi
  }
}

proctype Sender() {
  byte sent;
  bool isSent;
  do
  :: sent < EVENTS ->
     isSent = false;
#ifndef DELIVERED_BEFORE_LOGGED
     append();
#endif
     if
     :: registered -> if :: !blocked -> signal() :: else fi
     :: else
     fi;
#ifdef DELIVERED_BEFORE_LOGGED
     append();
#endif
     if :: isSent -> undelivered-- :: else fi;
     sent++
  :: else -> break
  od;
  ready++
}

/* EventHub.finish: the end is delivered after the events that were sent before. */
proctype Finisher() {
  ended = true;
  undelivered == 0;
  if :: registered -> close() :: else fi;
  ready++
}

/* EventHub.follow */
proctype Subscriber() {
  bool sawEnd;
#ifndef NOT_SIGNALLED
  fresh = true;
#endif
#ifndef REGISTERED_LAST
  registered = true;
#endif
  atomic {
    if :: number = newest :: number = TRIMMED fi;
    sawEnd = ended
  };
  if :: sawEnd -> close() :: else fi;
  /* HandlerMailbox.start */
  atomic {
    if
    :: fresh || rest -> wakes++
    :: else -> exhausted = closed; idle = true
    fi
  };
#ifdef REGISTERED_LAST
  registered = true;
#endif
  ready++
}

/* Entry.block, Entry.unblock, Mailbox.adoptBlock */
proctype Blocker() {
  registered;
  blocked = true;
  blocked = false;
  atomic {
#ifndef FORGETS_BLOCKED_EVENTS
    if :: !exhausted -> fresh = true :: else fi;
#endif
    if
#ifdef WAKES_RUNNING
    :: !exhausted -> idle = false; wakes++
#endif
    :: fresh || rest || closed -> wake()
    :: else
    fi
  };
  ready++
}

/* HandlerMailbox.drain */
proctype Consumer() {
  byte took, first;
end:
  do
  :: atomic { wakes > 0 -> wakes--; running++; took = 0 };
     assert(running == 1);  /* Each wake starts one. */
     atomic {
       if
       :: blocked
       :: !blocked && rest -> rest = false; took = 2
       :: !blocked && !rest && fresh -> fresh = false; took = 1
       :: else
       fi
     };
     if
     :: took > 0 ->
        /* EventSequencer.read */
        atomic {
          first = (number > TRIMMED -> number : TRIMMED);
          number = (first + SHARE < newest -> first + SHARE : newest);
          if :: took == 1 -> goal = newest :: else fi
        }
     :: else
     fi;
     atomic {
       running--;
       if
#ifndef FORGETS_THE_REST
       :: took > 0 && number < goal -> rest = true
#endif
       :: else
       fi;
       if
       :: !blocked && (fresh || rest) -> wakes++
       :: else ->
          if :: closed && !blocked -> exhausted = true :: else fi;
          idle = true
       fi
     }
  od
}

proctype Monitor() {
  ready == 3 + FINISHERS + BLOCKERS && wakes == 0 && running == 0;
  assert(number == newest);
  assert(exhausted == ended)
}

init {
  atomic {
    run Sender();
    run Sender();
#ifdef FINISHES
    run Finisher();
#endif
    run Subscriber();
#ifdef BLOCKS
    run Blocker();
#endif
    run Consumer();
#ifdef WAKES_RUNNING
    /* Otherwise no second one is ever woken. */
    run Consumer();
#endif
    run Monitor()
  }
}
