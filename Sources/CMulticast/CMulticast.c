#include "CMulticast.h"

#if defined(CMULTICAST_IS_SUPPORTED)

#include <pthread.h>
#include <time.h>

#if defined(__linux__)
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
// The kernel header is missing where only the headers of the C library are installed.
#if defined(__NR_membarrier) && __has_include(<linux/membarrier.h>)
#include <linux/membarrier.h>
#define HAS_MEMBARRIER
#endif
// `CMULTICAST_PORTABLE_WAIT` tests the form for other systems.
#if defined(__NR_futex) && __has_include(<linux/futex.h>) && !defined(CMULTICAST_PORTABLE_WAIT)
#include <linux/futex.h>
#define HAS_FUTEX
#endif
#endif

_Thread_local void *cmulticast_thread_pointer;

bool cmulticast_light_barrier_is_fence = true;

// Relaxed: a statistic.
static atomic_ulong barriers;

unsigned long cmulticast_barrier_count(void) {
  return atomic_load_explicit(&barriers, memory_order_relaxed);
}

void cmulticast_barrier_light_by_fence(void) { atomic_thread_fence(memory_order_seq_cst); }

#if defined(HAS_MEMBARRIER)

static int membarrier(int command) { return (int)syscall(__NR_membarrier, command, 0, 0); }

static void prepare(void) {
  // Old kernels and some sandboxes refuse this, and some sandboxes refuse the second command alone.
  // Then the light half stays a fence.
  cmulticast_light_barrier_is_fence =
      membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) != 0 ||
      membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0;
}

// `membarrier` worked in `prepare`, so light halves are not fences and nothing else can be heavy.
static _Noreturn void fail(int error) {
  fprintf(stderr,
          "Multicast: membarrier(2) is refused (%s), but it was allowed when the process first "
          "used this library. Allow membarrier in the sandbox, or install the sandbox before the "
          "first use.\n",
          strerror(error));
  abort();
}

void cmulticast_barrier_heavy(void) {
  atomic_fetch_add_explicit(&barriers, 1, memory_order_relaxed);
  atomic_thread_fence(memory_order_seq_cst);
  if (!cmulticast_light_barrier_is_fence && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0) {
    // Register again, in case the registration is gone. Only once: a refusal is permanent.
    if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) != 0 ||
        membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0) {
      fail(errno);
    }
  }
  atomic_thread_fence(memory_order_seq_cst);
}

#else

// The light half stays a fence.
static void prepare(void) {}

void cmulticast_barrier_heavy(void) {
  atomic_fetch_add_explicit(&barriers, 1, memory_order_relaxed);
  atomic_thread_fence(memory_order_seq_cst);
}

#endif

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HAS_THREAD_SANITIZER
#endif
#endif

#if defined(HAS_THREAD_SANITIZER)

extern void __tsan_acquire(void *address);

const bool cmulticast_is_thread_sanitized = true;

void cmulticast_sanitizer_acquire(uintptr_t address) { __tsan_acquire((void *)address); }

#else

const bool cmulticast_is_thread_sanitized = false;

void cmulticast_sanitizer_acquire(uintptr_t address) { (void)address; }

#endif

void cmulticast_barrier_prepare(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, prepare);
}

#if defined(HAS_FUTEX)

// `errno` stays as it is: the caller of a lock does not expect it to change.
void cmulticast_wait(const void *address, uint32_t expected) {
  int error = errno;
  syscall(__NR_futex, address, FUTEX_WAIT_PRIVATE, expected, NULL, NULL, 0);
  errno = error;
}

void cmulticast_wake_one(const void *address) {
  int error = errno;
  syscall(__NR_futex, address, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  errno = error;
}

#else

// One condition for all words: a thread that is woken for another word waits again.
static pthread_mutex_t words = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

void cmulticast_wait(const void *address, uint32_t expected) {
  // A wait for a condition may end a thread that was cancelled, which would keep the mutex.
  int state;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
  pthread_mutex_lock(&words);
  // Relaxed: a thread that changes the word then takes the mutex, so either this load finds the
  // change, or the thread is woken.
  if (atomic_load_explicit((const _Atomic uint32_t *)address, memory_order_relaxed) == expected) {
    pthread_cond_wait(&changed, &words);
  }
  pthread_mutex_unlock(&words);
  pthread_setcancelstate(state, NULL);
}

void cmulticast_wake_one(const void *address) {
  (void)address;
  pthread_mutex_lock(&words);
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&words);
}

#endif

uint64_t cmulticast_monotonic_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

#endif
