/*
 * Replacing a registration: `DuplicatePolicy.replace`.
 *
 * Stands for EntryTable.insert and PublishedSlots on the writer's side, and for Registry.forEachEntry and
 * Invocation.pass on the side of two readers.
 *
 * All stores are those of one writer, under the lock, and each of them releases or comes before one
 * that does; all loads of a reader acquire. So a reader sees the stores in program order, and
 * interleaving the steps gives every behaviour.
 *
 * By default the list has a free slot at its end. With COMPACTING it has none, but mostly empty
 * slots: the writer changes a shorter list, which it publishes at the end.
 *
 * Checked for every interleaving: no invocation calls both entries. APPENDED_FIRST, when defined,
 * misplaces a step; see `check`.
 */

#define NOTHING 0
#define OLD 1
#define NEW 2

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

/* EntryHead.state of the old entry. */
bool isActive = true;

/* EntryTable.append */
inline append() {
  SLOT(list, count[list]) = NEW;
  count[list] = count[list] + 1
}

/* EntryTable.take */
inline takeOld() {
  isActive = false;
  SLOT(list, slot) = NOTHING
}

/* EntryTable.insert, under the lock */
proctype Writer() {
  byte slot = OLD_SLOT;
  bit list;
#ifdef COMPACTING
  /* EntryTable.compact: no reader sees the new list before it is published. */
  atomic { SLOT(1, 0) = OLD; count[1] = 1; slot = 0; list = 1 };
#endif
#ifdef APPENDED_FIRST
  append();
  takeOld()
#else
  takeOld();
  append()
#endif
#ifdef COMPACTING
  /* WaitFreeStorage.publish */
  ;
  current = list
#endif
}

proctype Reader() {
  bit list, calledOld, calledNew;
  byte used, index, entry;
  list = current;
  used = count[list];
  do
  :: index < used ->
     entry = SLOT(list, index);
     if
     :: entry == OLD -> calledOld = isActive
     :: entry == NEW -> calledNew = true
     :: entry == NOTHING
     fi;
     index++
  :: else -> break
  od;
  assert(!(calledOld && calledNew))
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
