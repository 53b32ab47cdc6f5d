#include "CMulticast.h"

#include <pthread.h>

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
// The header of the kernel is missing where only those of the C library are installed.
#if defined(__NR_membarrier) && __has_include(<linux/membarrier.h>)
#include <linux/membarrier.h>
#define HAS_MEMBARRIER
#endif
#endif

_Thread_local void *cmulticast_thread_pointer;

bool cmulticast_light_barrier_is_fence = true;

#if defined(HAS_MEMBARRIER)

static int membarrier(int command) { return (int)syscall(__NR_membarrier, command, 0, 0); }

static void prepare(void) {
  // Refused by old kernels and by some sandboxes: then the light half stays a fence.
  cmulticast_light_barrier_is_fence =
      membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) != 0;
}

void cmulticast_barrier_heavy(void) {
  atomic_thread_fence(memory_order_seq_cst);
  if (!cmulticast_light_barrier_is_fence) {
    // A child of fork() has to register anew.
    while (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0) {
      if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) != 0) { __builtin_trap(); }
    }
  }
  atomic_thread_fence(memory_order_seq_cst);
}

#else

// The light half stays a fence.
static void prepare(void) {}

void cmulticast_barrier_heavy(void) { atomic_thread_fence(memory_order_seq_cst); }

#endif

void cmulticast_barrier_prepare(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, prepare);
}
