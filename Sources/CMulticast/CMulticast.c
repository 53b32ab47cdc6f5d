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

uint64_t cmulticast_monotonic_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

#endif
