/*
 * Waiting for a callback: the pair of barriers in ThreadCallStack.swift and CMulticast.h.
 *
 * Two callers reach two entries, FIRST and SECOND (`Invocation.pass`). A waiter ends the registration of
 * FIRST and waits (`Registration.cancelAndWait`). The callback of SECOND in caller 1 does not end
 * before the waiter has returned: it must not hold the waiter up.
 *
 * A processor with a store buffer (as x86 has it) is modelled: what a caller stores goes into a
 * queue and reaches the memory some time later, in order, while the caller's loads overtake it. Only
 * the store that cancels is an exchange, which bypasses the buffer and empties it. There are two
 * forms of the barriers:
 * - by default the light half keeps the compiler from moving the load before the store, and the
 *   heavy half makes each caller's processor empty its buffer, at different moments;
 * - with FENCE both halves are fences of their own processor.
 *
 * Checked for every interleaving:
 * - when the wait is over the callback of FIRST is not running, it never begins again, and what it
 *   wrote can be read,
 * - every process ends.
 *
 * With FROM_INSIDE the callback of FIRST in caller 0 cancels and waits too, for itself. The other
 * names, when defined, remove or misplace one step; see `check`.
 */

#define NOTHING 0
#define FIRST 1
#define SECOND 2

#define INACTIVE 0
#define ACTIVE 1

/* The memory. FIRST is the entry that is cancelled: only its state changes. */
bit state = ACTIVE;
byte frame[2];
bit recordIsListed[2];
bit written[2];

/* The store buffers: which word, and its new value. */
#define FRAME 0
#define WRITTEN 1
chan buffer[2] = [4] of { bit, byte };

/* For the checks. */
bit running[2];
bit called[2];
bit waited;

proctype Processor(bit me) {
  byte value;
end:
  do
  :: atomic { buffer[me]?FRAME, value -> frame[me] = value; value = 0 }
  :: atomic { buffer[me]?WRITTEN, value -> written[me] = value; value = 0 }
  od
}

/* cmulticast_barrier_heavy */
inline heavy() {
#if defined(NO_HEAVY) || defined(FENCE)
  skip
#else
  empty(buffer[0]);
  empty(buffer[1])
#endif
}

/* cmulticast_barrier_light; a barrier that is missing lets the compiler move the load. */
inline light(me) {
#if defined(FENCE) && !defined(NO_LIGHT)
  empty(buffer[me])
#else
  skip
#endif
}

/* Registry.forEachEntry for two entries; ThreadCallStack.extend, Invocation.init, pass and end */
proctype Caller(bit me) {
  bit isActive;
  recordIsListed[me] = 1;

#if defined(NO_LIGHT) && !defined(FENCE)
  isActive = (state == ACTIVE);
  buffer[me]!FRAME, FIRST;
#else
  buffer[me]!FRAME, FIRST;
  light(me);
  isActive = (state == ACTIVE);
#endif
  if
  :: isActive ->
     atomic { assert(!waited); running[me] = 1; called[me] = 1 };
#ifdef FRAME_EMPTIED_EARLY
     buffer[me]!FRAME, NOTHING;
#endif
     buffer[me]!WRITTEN, 1;
#ifdef FROM_INSIDE
     if
     :: me == 0 ->
        atomic { empty(buffer[0]) -> state = INACTIVE };
        heavy();
        /* ThreadCallStack.isCalledByThisThread: this thread's frame holds the entry, so it returns. */
#ifdef DOES_NOT_KNOW_ITSELF
        frame[0] != FIRST;
        frame[1] != FIRST
#endif
     :: else
     fi;
#endif
     running[me] = 0
  :: else
  fi;

  buffer[me]!FRAME, SECOND;
  light(me);
  if
  :: me == 1 -> waited
  :: else
  fi;
  buffer[me]!FRAME, NOTHING
}

/* EntryHandle.cancelAndWait; ThreadCallStack.isCalled until it finds no frame */
proctype Waiter() {
#ifdef RECORDS_LISTED_EARLY
  bit isListed[2];
  atomic { isListed[0] = recordIsListed[0]; isListed[1] = recordIsListed[1] };
#else
#define isListed recordIsListed
#endif
#ifndef CHECKED_BEFORE_CANCELLED
  state = INACTIVE;
  heavy();
#endif
#ifdef WAITS_FOR_INVOCATION
#define FREE(caller) (frame[caller] == NOTHING)
#else
#define FREE(caller) (frame[caller] != FIRST)
#endif
  !isListed[0] || FREE(0);
  !isListed[1] || FREE(1);
#ifdef CHECKED_BEFORE_CANCELLED
  state = INACTIVE;
  heavy();
#endif
  atomic {
    assert(!running[0] && !running[1]);
    assert(written[0] == called[0] && written[1] == called[1]);
    waited = 1
  }
}

init {
  atomic {
    run Processor(0);
    run Processor(1);
    run Caller(0);
    run Caller(1);
    run Waiter()
  }
}
