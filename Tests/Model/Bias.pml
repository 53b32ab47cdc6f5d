/*
 * Biased readers: the section of a thread, the mode and the role in Reclaimer.swift.
 *
 * Two readers read one slot, which holds FIRST, and then SECOND. One writer replaces FIRST, the other
 * removes what is there; each retires what it has unlinked. A reader that is counted may make the
 * structure biased again if nothing is retired.
 *
 * A processor with a store buffer (as x86 has it) is modelled for the stores to sections: they reach
 * the memory some time later, in order, while the reader's loads overtake them. The heavy barrier makes each
 * reader's processor empty its buffer, at different moments. All other stores are read-modify-writes
 * or come before one. One column of counters stands for both: see ReadPath.pml.
 *
 * Checked for every interleaving:
 * - a reader never uses an object that was destroyed, and none is destroyed twice,
 * - when all processes have ended, everything that was retired is destroyed and the role is idle.
 *
 * The names, when defined, remove or misplace one step; see `check`.
 */

#define FIRST 1
#define SECOND 2

/* Reclaimer.mode; `counted` stands for `quiet` too: any time may have passed. */
#define BIASED 0
#define REVOKED 1
#define COUNTED 2
byte mode = BIASED;

/* Reclaimer.role */
#define IDLE 0
#define PENDING 1
#define COLLECTING 2
#define RECHECK 3
byte role = IDLE;

byte slot = FIRST;
byte readers;
bit section[2];
chan buffer[2] = [3] of { bit };

/* Reclaimer.retired and the lists, as sets of bits. */
byte retired, taken;

/* For the checks. */
byte destroyed, resting;

proctype Processor(bit me) {
  bit value;
end:
  do
  :: atomic { buffer[me]?value -> section[me] = value; value = 0 }
  od
}

inline heavy() {
#ifdef NO_HEAVY
  skip
#else
  empty(buffer[0]);
  empty(buffer[1])
#endif
}

/* Reclaimer.isWithoutSections: `clear` becomes whether no reader is in a section. */
inline checkSections() {
  clear = true;
#ifdef SCANNED_BEFORE_BARRIER
  if
  :: section[0] || section[1] -> clear = false
  :: else
  fi;
#endif
  if
  :: mode == BIASED ->
     mode = REVOKED;
     heavy()
  :: else
  fi;
#ifndef SCANNED_BEFORE_BARRIER
#ifndef NO_SCAN
  if
  :: atomic { mode == REVOKED && section[0] -> clear = false }
  :: else
  fi;
  if
  :: atomic { mode == REVOKED && section[1] -> clear = false }
  :: else
  fi;
#endif
#endif
#ifdef SCANNED_ONCE
  mode = COUNTED
#else
  if
  :: clear -> mode = COUNTED
  :: else
  fi
#endif
}

/* Reclaimer.collectAndLeaveRole and advance, for a process that has the role. */
inline collectAndLeaveRole() {
  again = true;
  do
  :: atomic { !again -> break }
  :: atomic { again ->
       taken = taken | retired;
       retired = 0;
       clear = false };
     if
     :: taken != 0 ->
        checkSections();
        if
        :: atomic { clear && readers == 0 ->
             assert((destroyed & taken) == 0);
             destroyed = destroyed | taken;
             taken = 0 }
        :: else
        fi
     :: else
     fi;
     atomic {
       if
       :: role == RECHECK
       :: else -> role = (taken == 0 -> IDLE : PENDING); again = false
       fi;
       clear = false
     };
     if
     :: again -> role = COLLECTING
     :: else
     fi
  od
}

/* Reclaimer.collect */
inline collect() {
  atomic {
    isOurs = false;
    if
    :: role == RECHECK
    :: role == COLLECTING -> role = RECHECK
    :: else -> role = COLLECTING; isOurs = true
    fi
  };
  if
  :: isOurs -> collectAndLeaveRole()
  :: else
  fi;
  isOurs = false
}

/* Reclaimer.checkForQuiet */
inline checkForQuiet() {
  if
  :: atomic { role == IDLE -> role = COLLECTING };
     if
     :: mode == COUNTED -> mode = BIASED
     :: else
     fi;
     collectAndLeaveRole()
  :: true
  fi
}

proctype Reader(bit me; byte reads) {
  bit isCounted, isIdle, clear, again, isOurs;
  byte found;
  do
  :: atomic { reads == 0 -> resting++; break }
  :: atomic { reads > 0 -> reads-- };
     /* Reclaimer.enter */
#ifdef MODE_BEFORE_SECTION
     isCounted = (mode != BIASED);
     buffer[me]!1;
#else
     buffer[me]!1;
     isCounted = (mode != BIASED);
#endif
     if
     :: isCounted ->
        buffer[me]!0;
        checkForQuiet();
        atomic { empty(buffer[me]) -> readers++ }
     :: else
     fi;
     found = slot;
     /* What was destroyed stays so: one check at the end of the use is enough. */
     atomic { assert((destroyed & found) == 0); found = 0 };
     if
     :: isCounted ->
        readers--;
        isIdle = (role == IDLE)
     :: else ->
        buffer[me]!0;
#ifdef LEFT_WITHOUT_LOAD
        isIdle = true
#else
        isIdle = (role == IDLE);
#endif
        if
        :: isIdle
        :: else ->
#ifndef LEFT_WITHOUT_STORE
           empty(buffer[me])
#else
           skip
#endif
        fi
     fi;
     if
     :: isIdle
     :: else -> collect()
     fi;
     atomic { isCounted = 0; isIdle = 0 }
  od
}

proctype Writer(byte new) {
  byte old;
  bit clear, again, isOurs;
  atomic { old = slot; slot = new };
  atomic { retired = retired | old; old = 0 };
  collect();
  resting++
}

init {
  atomic {
    run Processor(0);
    run Processor(1);
    run Reader(0, READS);
    run Reader(1, READS);
    run Writer(SECOND);
    run Writer(0)
  };
  resting == 4;
  assert(destroyed == (FIRST | SECOND) || slot == SECOND);
  assert(slot == 0 || destroyed == FIRST);
  assert(retired == 0 && taken == 0 && role == IDLE && readers == 0)
}
