/*
 * A lock in one word: Lock+Word.swift, and cmulticast_wait and cmulticast_wake_one in CMulticast.c. Where
 * there are no futexes, a wake wakes all threads: those that need not be woken are waits that end early.
 *
 * Three threads each take the lock ROUNDS times. The kernel keeps the threads that wait for the word.
 * It compares the word and adds the thread in one step, and a wake removes one of them, any one. A
 * wait may also end early, for example because of a signal.
 *
 * Every step on the word is a read-modify-write, or made by the kernel under a lock of its own, so
 * interleaving them gives every behaviour. Tests/Litmus/protocols/lock.litmus has their orders.
 *
 * Checked for every interleaving:
 * - at most one thread is inside,
 * - every thread ends: none waits although the lock is free for good.
 *
 * The names that are not defined by default remove or misplace one step; see `check`.
 */

#ifndef THREADS
#define THREADS 3
#endif

#define FREE 0
#define TAKEN 1
#define CONTENDED 2

/* The word with which a thread waits. */
#ifdef WAITS_WITHOUT_A_MARK
#define EXPECTED TAKEN
#else
#define EXPECTED CONTENDED
#endif

byte word;

/* The threads that wait in the kernel. */
bool sleeps[THREADS];

/* For the checks. */
byte inside;

/* cmulticast_wait */
inline wait(me) {
#ifdef WAITS_WITHOUT_COMPARING
  sleeps[me] = true;
#else
#ifdef COMPARES_BEFORE_IT_SLEEPS
  if
  :: word == EXPECTED -> sleeps[me] = true
  :: else
  fi;
#else
  atomic {
    if
    :: word == EXPECTED -> sleeps[me] = true
    :: else
    fi
  };
#endif
#endif
#ifdef SIGNALS
  if
  :: !sleeps[me]
  :: atomic { sleeps[me] -> sleeps[me] = false }
  fi
#else
  !sleeps[me]
#endif
}

/* cmulticast_wake_one: any thread that waits; nothing if there is none. */
inline wakeOne() {
  atomic {
    if
    :: sleeps[0] -> sleeps[0] = false
    :: sleeps[1] -> sleeps[1] = false
#if THREADS > 2
    :: sleeps[2] -> sleeps[2] = false
    :: !sleeps[0] && !sleeps[1] && !sleeps[2]
#else
    :: !sleeps[0] && !sleeps[1]
#endif
    fi
  }
}

proctype Thread(byte me) {
  byte old, rounds;
  do
  :: rounds < ROUNDS ->
     /* Lock.tryLock */
#ifdef TAKES_IN_TWO_STEPS
     old = word;
     if
     :: old == FREE -> word = TAKEN
     :: else
     fi;
#else
     atomic {
       old = word;
       if
       :: old == FREE -> word = TAKEN
       :: else
       fi
     };
#endif
     /* Lock.takeContended */
     do
     :: old == FREE -> break
     :: else ->
        atomic {
          old = word;
#ifdef WAITS_WITHOUT_A_MARK
          if
          :: old == FREE -> word = TAKEN
          :: else
          fi
#else
#ifdef TAKES_AS_UNCONTENDED
          if
          :: old == FREE -> word = TAKEN
          :: else -> word = CONTENDED
          fi
#else
          word = CONTENDED
#endif
#endif
        };
        if
        :: old == FREE -> break
        :: else -> wait(me)
        fi
     od;
     inside++;
     assert(inside == 1);
     inside--;
     /* Lock.release */
#ifdef WAKES_FIRST
     if
     :: word == CONTENDED -> wakeOne()
     :: else
     fi;
     word = FREE;
#else
     atomic { old = word; word = FREE };
     if
#ifndef NEVER_WAKES
     :: old == CONTENDED -> wakeOne()
#endif
     :: else
     fi;
#endif
     rounds++
  :: else -> break
  od
}

init {
  atomic {
    run Thread(0);
    run Thread(1);
#if THREADS > 2
    run Thread(2)
#endif
  }
}
