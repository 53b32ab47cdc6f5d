/*
 * Replacing a registration: `DuplicatePolicy.replaced`.
 *
 * Stands for Roster.supersede and PublishedSlots on the writer's side, and for
 * Registry.visitEntries, Visit.pass and Visit.isDue on the side of two readers.
 *
 * All stores are those of one writer, under the lock, and each of them releases or comes before one
 * that does; all loads of a reader acquire. So a reader finds the stores in the order of the
 * program, and interleaving the steps gives every behaviour there is.
 *
 * By default the list has room. With COMPACTING it is full and mostly empty, and a shorter one is
 * published first.
 *
 * Checked for every interleaving, of each invocation:
 * - it never calls both entries,
 * - it begins with exactly one of them: with the old one as long as the old one is not taken away,
 *   afterwards with the new one,
 * - it calls that one, unless it began with the old one and was overtaken: the old one was removed
 *   before its turn. As after `remove` and `add`, it then calls neither. An invocation of a list
 *   that compaction has replaced counts as overtaken from the mark on.
 *
 * With CLAIM_ONE an overtaken invocation is no excuse: this claim does not hold. The other names,
 * when defined, take one step away or put it in the wrong place; see `check`.
 */

#define NOTHING 0
#define OLD 1
#define NEW 2

#define INACTIVE 0
#define ACTIVE 1
#define SUPERSEDED 2

#ifdef COMPACTING
#define SLOTS 3
#define OLD_SLOT 2
#else
#define SLOTS 2
#define OLD_SLOT 0
#endif

/* PublishedSlots: two lists, of which `current` is published, and how many slots each uses. */
#define SLOT(list, index) slots[(list) * SLOTS + (index)]
byte slots[2 * SLOTS];
byte count[2];
bit current;

/* EntryHead of the old entry. */
byte state = ACTIVE;
byte slot = OLD_SLOT;

/* Roster.append */
inline append() {
  SLOT(current, count[current]) = NEW;
  count[current] = count[current] + 1
}

/* Roster.take */
inline takeOld() {
  state = INACTIVE;
  SLOT(current, place) = NOTHING
}

/* Roster.supersede */
inline mark() {
#ifdef SLOT_AFTER_MARK
  state = SUPERSEDED;
  slot = count[current]
#else
  slot = count[current];
  state = SUPERSEDED
#endif
}

/* Roster.insert, under the lock */
proctype Writer() {
  byte place = OLD_SLOT;
#ifdef COMPACTING
  /* Roster.compact: nobody sees the new list before it is published. */
  atomic { SLOT(1, 0) = OLD; count[1] = 1; place = 0; current = 1 };
  slot = 0;
#endif
#if defined(TAKEN_FIRST)
  takeOld();
  append()
#elif defined(NO_MARK)
  append();
  takeOld()
#elif defined(MARKED_AFTER_APPEND)
  append();
  mark();
  takeOld()
#else
  mark();
  append();
  takeOld()
#endif
}

proctype Reader() {
  bit list, began, calledOld, calledNew, overtaken;
  byte used, index, entry, seen;
  atomic { list = current; began = (state != INACTIVE) };
  atomic {
    used = count[list];
    if
    :: list == current -> began = (state != INACTIVE)
    :: else
    fi
  };
  do
  :: index < used ->
     entry = SLOT(list, index);
     if
     :: entry == OLD ->
        atomic {
          seen = state;
          overtaken = overtaken || seen == INACTIVE || (seen == SUPERSEDED && list != current)
        };
        if
        :: seen == ACTIVE -> calledOld = true
#ifdef MARK_MEANS_ACTIVE
        :: seen == SUPERSEDED -> calledOld = true
#elif !defined(MARK_MEANS_INACTIVE)
        :: seen == SUPERSEDED -> calledOld = (slot >= used)
#endif
        :: else
        fi
     :: entry == NEW -> atomic { began = true; calledNew = true }
     :: entry == NOTHING -> overtaken = true
     fi;
     index++
  :: else -> break
  od;
  assert(!(calledOld && calledNew));
  assert(began);
#ifdef CLAIM_ONE
  overtaken = false;
#endif
  assert(calledOld || calledNew || overtaken)
}

init {
  atomic {
    SLOT(0, OLD_SLOT) = OLD;
    count[0] = OLD_SLOT + 1;
    run Writer();
    run Reader();
    run Reader()
  }
}
