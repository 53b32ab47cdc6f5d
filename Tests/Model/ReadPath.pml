/*
 * The read path of the `waitFree` strategy: which readers are inside, and when something may be
 * destroyed.
 *
 * Stands for ReadIndicator.swift, Reclaimer.swift, PublishedSlots.swift and WaitFreeStorage.swift.
 * Two readers read the published list (`Registry.forEachEntry`). One writer publishes a new list
 * and retires the old one (`EntryTable.compact`), the other removes an entry (`Registration.cancel`).
 *
 * Each access to a word that others change is one step, with what follows from it locally. The code
 * makes these accesses sequentially consistent, so interleaving the steps gives every behaviour it
 * has. An ordering that is missing from the code is two steps in exchanged order here. The only such
 * word that a reader loads with a weaker ordering is the phase; with STALE_PHASE a reader counts
 * itself in at either column, whatever the phase. With GROWING one reader makes the counters grow.
 *
 * Checked for every interleaving:
 * - a reader never uses a list or an entry that was destroyed,
 * - nothing is destroyed twice, and only one process at a time has the role of the collector,
 * - when all processes have ended, everything that was retired is destroyed and the role is idle.
 *
 * The other names, when defined, remove or misplace one step; see `check`.
 */

#define OLD_LIST 1
#define ENTRY 4
#define LIST_BIT(list) (1 << (list))

/* ReadIndicator: two columns in the small block, and two in the large one that contention adds. */
#define SMALL 0
#define LARGE 1
#define COUNTER(base, column) readers[(base) * 2 + (column)]
byte readers[4];
bit phase;
bit block = SMALL;

/* Reclaimer. `retired`, `newer` and `older` are sets of bits. */
#define IDLE 0
#define PENDING 1
#define COLLECTING 2
#define RECHECK 3
byte role = IDLE;
byte retired, newer, older;

/* PublishedSlots: the current list, first OLD_LIST, and the one slot of each list. */
bit current;
byte slot[2] = { ENTRY, 0 };

/* For the checks. */
byte destroyed;
byte collectors;
byte resting;

/* What readers see of the role. */
#ifdef ROLE_WRITTEN_LATE
bit shown;
#define ROLE_IS_IDLE (!shown)
#define SHOW_ROLE shown = (role != IDLE)
#else
#define ROLE_IS_IDLE (role == IDLE)
#define SHOW_ROLE skip
#endif

inline destroy(what) {
  atomic {
    assert((destroyed & what) == 0);
    destroyed = destroyed | what;
    what = 0
  }
}

inline take() {
  newer = newer | retired;
  retired = 0
}

/*
 * ReadIndicator.isDrained and isCurrentDrained: `drained` becomes whether `column` is empty. Only the
 * collector changes the phase.
 */
inline checkDrained(column) {
#if defined(GROWING) && !defined(BLOCK_LOADED_EARLY)
  base = block;
#endif
  atomic {
    drained = (COUNTER(SMALL, column) == 0);
#ifdef ONLY_CURRENT_BLOCK
    drained = drained || base == LARGE;
#endif
  };
#ifdef GROWING
  if
  :: drained && base == LARGE -> drained = (COUNTER(LARGE, column) == 0)
  :: else
  fi
#endif
}

/* Reclaimer.advance: `nothing` becomes whether nothing is left. */
inline advance() {
  do
  ::
#ifdef BLOCK_LOADED_EARLY
     base = block;
#endif
#ifdef TAKEN_AFTER_CHECK
     checkDrained(1 - phase);
#endif
     atomic {
       take();
       nothing = (newer == 0 && older == 0);
       if
       :: nothing -> break
       :: else
       fi
     };
#ifndef TAKEN_AFTER_CHECK
     checkDrained(1 - phase);
#endif
     atomic {
       if
       :: !drained -> break
       :: else
       fi;
#ifdef ONE_COLUMN
       unreachable = unreachable | newer;
       newer = 0;
#else
       unreachable = unreachable | older;
       older = 0;
#endif
       drained = 0
     };
#ifdef LATER_COLUMN_ONLY
     drained = true;
#else
     checkDrained(phase);
#endif
     atomic {
       if
       :: drained -> unreachable = unreachable | newer; newer = 0; nothing = true; break
       :: else
       fi;
       older = newer;
       newer = 0;
#ifndef NO_FLIP
       phase = 1 - phase;
#endif
       drained = 0
     }
  od
}

/* Becomes the collector. */
inline takeRole() {
  role = COLLECTING;
  again = true;
  collectors++;
  assert(collectors == 1)
#ifndef ROLE_WRITTEN_LATE
  ; SHOW_ROLE
#endif
}

/*
 * Reclaimer.collect. A compare-and-swap that fails changes nothing, so the loop around the first
 * one is one step.
 */
inline collect() {
  atomic {
    again = false;
    if
    :: role == RECHECK
    :: role == COLLECTING ->
#ifndef NOT_ASKED
       role = RECHECK
#endif
    :: else -> takeRole()
    fi
  };
  collectAndLeaveRole()
}

/* Reclaimer.collectAndLeaveRole, if `again`. */
inline collectAndLeaveRole() {
  do
  :: atomic { !again -> break }
  :: atomic { again -> skip };
     advance();
#ifdef ROLE_WRITTEN_LATE
     SHOW_ROLE;
#endif
     atomic {
       again = (role == RECHECK);
#ifdef NO_SECOND_PASS
       again = false;
#endif
       if
       :: again
       :: else -> collectors--; role = (nothing -> IDLE : PENDING); SHOW_ROLE
       fi;
       nothing = 0; base = 0; drained = 0
     };
     if
     :: again -> role = COLLECTING
     :: else
     fi
  od;
  destroy(unreachable)
}

/* Reclaimer.retire */
inline retire(what) {
  atomic {
    again = false;
    if
    :: role == IDLE || role == PENDING -> takeRole(); newer = newer | what
    :: else
    fi
  };
#ifdef WRITER_DOES_NOT_COLLECT
  if
  :: again -> atomic { again = false; collectors--; role = PENDING; SHOW_ROLE }
  :: else -> retired = retired | what
  fi
#else
  if
  :: again -> collectAndLeaveRole()
  :: else -> retired = retired | what; collect()
  fi
#endif
}

#define COLLECTOR \
  byte unreachable; \
  bit base, drained, nothing, again

/* Registry.forEachEntry, ReadIndicator.enter and Reclaimer.leave */
proctype Reader(byte reads; bit grows) {
  bit myBase, myColumn, list, idle, draining;
  byte entry;
  COLLECTOR;
  do
  :: atomic { reads == 0 -> resting++; break }
  :: atomic { reads > 0 -> reads-- };
#ifdef GROWING
     myBase = block;
#endif
#ifdef STALE_PHASE
     if
     :: myColumn = 0
     :: myColumn = 1
     fi;
#else
     myColumn = phase;
#endif
#ifdef LOADED_BEFORE_COUNTED
     list = current;
#endif
     COUNTER(myBase, myColumn)++;
#ifdef GROWING
     /* enterContended: another thread was found here. */
     if
     :: grows && block == SMALL -> block = LARGE
     :: true
     fi;
#endif
#ifndef LOADED_BEFORE_COUNTED
     list = current;
#endif
     entry = slot[list];
     /* The callback. What was destroyed stays so: one check at the end of the use is enough. */
#ifdef OUT_BEFORE_USE
     COUNTER(myBase, myColumn)--;
     assert((destroyed & (LIST_BIT(list) | entry)) == 0);
#endif
#ifdef PHASE_BEFORE_OUT
     draining = (phase != myColumn);
#endif
#ifdef ROLE_BEFORE_OUT
     idle = ROLE_IS_IDLE;
#endif
#ifndef OUT_BEFORE_USE
     atomic {
       assert((destroyed & (LIST_BIT(list) | entry)) == 0);
       COUNTER(myBase, myColumn)--
     };
#endif
     atomic { list = 0; entry = 0; myBase = 0 };
#ifdef READER_DOES_NOT_CHECK
     idle = true;
#else
#ifndef ROLE_BEFORE_OUT
     idle = ROLE_IS_IDLE;
#endif
#endif
     if
     :: idle
     :: else ->
#ifndef PHASE_BEFORE_OUT
        draining = (phase != myColumn);
#endif
        if
        :: draining -> collect()
        :: else
        fi
     fi;
     atomic { myColumn = 0; idle = 0; draining = 0 }
  od
}

/*
 * EntryTable.compact: PublishedSlots.compact, WaitFreeStorage.update, publish and retire. Readers can see
 * one of the stores between lock and unlock, so under the lock all of it is one step.
 */
proctype Compactor() {
  COLLECTOR;
#ifdef RETIRED_BEFORE_UNLINKED
  retire(OLD_LIST);
#endif
#ifdef NO_LOCK
  slot[1] = slot[0];
  current = 1;
#else
  atomic { slot[1] = slot[0]; current = 1 };
#endif
#ifdef LIST_DESTROYED_AT_ONCE
  unreachable = OLD_LIST;
  destroy(unreachable);
#else
#ifndef RETIRED_BEFORE_UNLINKED
  retire(OLD_LIST);
#endif
#endif
  resting++
}

/* Registration.cancel: PublishedSlots.remove, WaitFreeStorage.retire */
proctype Remover() {
  COLLECTOR;
#ifdef NO_LOCK
  bit list;
  list = current;
  slot[list] = 0;
#else
  slot[current] = 0;
#endif
#ifdef ENTRY_DESTROYED_AT_ONCE
  unreachable = ENTRY;
  destroy(unreachable);
#else
  retire(ENTRY);
#endif
  resting++
}

/*
 * Both in one critical section, as EntryTable.insert and prune may: removes the entry from the new list,
 * and then publishes that. The slot of the old list keeps the entry.
 */
proctype CompactorAndRemover() {
  COLLECTOR;
#ifdef RETIRED_BEFORE_PUBLISHED
  slot[1] = 0;
  retire(ENTRY);
  current = 1;
  retire(OLD_LIST);
#else
  atomic { slot[1] = 0; current = 1 };
  retire(OLD_LIST);
  retire(ENTRY);
#endif
  resting = resting + 2
}

init {
  atomic {
    run Reader(READS, false);
    run Reader(READS, true);
#ifdef ONE_WRITER
    run CompactorAndRemover()
#else
    run Compactor();
    run Remover()
#endif
  };
  resting == 4;
  assert(destroyed == (OLD_LIST | ENTRY));
  assert(retired == 0 && newer == 0 && older == 0 && role == IDLE && collectors == 0)
}
