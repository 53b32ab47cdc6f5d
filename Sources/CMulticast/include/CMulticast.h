// What cannot be written in Swift: declarations of eight entry points of the Swift runtime, a
// thread-local pointer, memory barriers, a clock, waiting for a word, a prefetch, a pause, and an
// annotation for the thread sanitizer.

#ifndef CMULTICAST_H
#define CMULTICAST_H

#include "CMulticastPlatform.h"

// Elsewhere nothing follows the message.
#if defined(CMULTICAST_IS_SUPPORTED)

// The C library, which Swift sees through this header: threads, yielding, the number of processors.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>
#if defined(__APPLE__)
#include <os/lock.h>
#endif

#if defined(__cplusplus)
extern "C" {
#endif

// --- Entry points of the Swift runtime -------------------------------------------------------
// Exported by the runtime. docs/Runtime.md and stdlib/public/runtime/HeapObject.cpp of the Swift
// project describe them. On platforms with a stable ABI they are part of it.

/// Retains a native Swift object unless its deinitialisation has begun.
/// Returns the object, or NULL. The caller must hold an unowned reference, which keeps the memory.
extern void *_Nullable swift_tryRetain(void *_Nonnull object);

/// Retains a native Swift object `count` times. Returns the object.
extern void *_Nonnull swift_retain_n(void *_Nonnull object, uint32_t count);

/// Takes an unowned reference: keeps the object's memory, not its stored properties.
extern void *_Nonnull swift_unownedRetain(void *_Nonnull object);

/// Releases an unowned reference.
extern void swift_unownedRelease(void *_Nonnull object);

/// Whether the deinitialisation of a native Swift object has begun. Retains nothing. The caller
/// must hold an unowned reference. Orders no memory accesses: see `cmulticast_fence_acquire`.
extern bool swift_isDeallocating(void *_Nonnull object);

/// The task that runs on the calling thread, not retained, or NULL.
extern __attribute__((swiftcall)) void *_Nullable swift_task_getCurrent(void);

/// The number of a task, which no other task has before or after it.
extern __attribute__((swiftcall)) uint64_t swift_task_getJobTaskId(void *_Nonnull task);

/// Whether a task is cancelled.
extern __attribute__((swiftcall)) bool swift_task_isCancelled(void *_Nonnull task);

/// The address of the task that runs on the calling thread, or zero.
static inline uintptr_t cmulticast_task_current(void) { return (uintptr_t)swift_task_getCurrent(); }

/// The number of the task that runs on the calling thread, or zero.
static inline uint64_t cmulticast_task_number(void) {
  void *task = swift_task_getCurrent();
  return task ? swift_task_getJobTaskId(task) : 0;
}

/// Whether the task that runs on the calling thread is cancelled. As `Task.isCancelled`, which also
/// retains and releases the task.
static inline bool cmulticast_task_is_cancelled(void) {
  void *task = swift_task_getCurrent();
  return task && swift_task_isCancelled(task);
}

// --- A pointer for each thread ---------------------------------------------------------------

extern _Thread_local void *_Nullable cmulticast_thread_pointer;

static inline void *_Nullable cmulticast_thread_get(void) { return cmulticast_thread_pointer; }
static inline void cmulticast_thread_set(void *_Nullable pointer) {
  cmulticast_thread_pointer = pointer;
}

// --- An asymmetric memory barrier ------------------------------------------------------------
// If one thread does  A; light; B  and another does  C; heavy; D,  then B sees C or D sees A. The
// light half is free where the heavy half can interrupt every running thread of the process (Linux:
// membarrier(2)), and a full fence elsewhere.

/// Whether the light half must be a full fence. Constant after `cmulticast_barrier_prepare`.
extern bool cmulticast_light_barrier_is_fence;

static inline bool cmulticast_light_barrier_must_fence(void) {
  return cmulticast_light_barrier_is_fence;
}

/// Asks the system for the heavy half. Idempotent; called before a thread's first light half.
void cmulticast_barrier_prepare(void);

/// The heavy half, about a microsecond. May be called from any thread.
void cmulticast_barrier_heavy(void);

/// The number of heavy halves so far, for tests.
unsigned long cmulticast_barrier_count(void);

/// The light half where it must be a fence. Not inlined: a loop over delegates has no instruction
/// that locks the bus.
void cmulticast_barrier_light_by_fence(void);

/// The light half. `is_fence` is `cmulticast_light_barrier_is_fence`, read once per invocation.
static inline void cmulticast_barrier_light(bool is_fence) {
  atomic_signal_fence(memory_order_seq_cst);
  if (__builtin_expect(is_fence, 0)) cmulticast_barrier_light_by_fence();
  atomic_signal_fence(memory_order_seq_cst);
}

// --- An acquire fence --------------------------------------------------------------------------

/// Orders earlier loads before later ones. The runtime loads the reference count of an object
/// relaxed, so a thread that finds an object dead needs this fence before it reads what was written
/// before the object died.
static inline void cmulticast_fence_acquire(void) { atomic_thread_fence(memory_order_acquire); }

// --- A clock -----------------------------------------------------------------------------------

/// The nanoseconds since some moment in the past, which never run backwards.
uint64_t cmulticast_monotonic_nanoseconds(void);

// --- The thread sanitizer --------------------------------------------------------------------

/// Whether this build is instrumented by the thread sanitizer.
extern const bool cmulticast_is_thread_sanitized;

/// Tells the thread sanitizer that what precedes a release of `address` happens before what follows
/// this call. Does nothing in other builds.
void cmulticast_sanitizer_acquire(uintptr_t address);

// --- Memory -----------------------------------------------------------------------------------

/// Prefetches the cache line at `address + offset`, which need not be valid.
static inline void cmulticast_prefetch(const void *_Nullable address, long offset) {
  __builtin_prefetch((const char *)address + offset, 0, 3);
}

// --- Waiting for a word -----------------------------------------------------------------------

/// Blocks the thread until it is woken for the word at `address`, if that still is `expected`. May
/// return early: the caller checks the word again.
void cmulticast_wait(const void *_Nonnull address, uint32_t expected);

/// Wakes at least one thread that waits for the word at `address`, which may be freed memory.
void cmulticast_wake_one(const void *_Nonnull address);

#if defined(__APPLE__)
// A word that begins as zero is an `os_unfair_lock`.
static inline void cmulticast_lock(const void *_Nonnull word) {
  os_unfair_lock_lock((os_unfair_lock_t)word);
}
static inline bool cmulticast_try_lock(const void *_Nonnull word) {
  return os_unfair_lock_trylock((os_unfair_lock_t)word);
}
static inline void cmulticast_unlock(const void *_Nonnull word) {
  os_unfair_lock_unlock((os_unfair_lock_t)word);
}
#endif

// --- Polling ----------------------------------------------------------------------------------

/// Tells the processor that the thread polls.
static inline void cmulticast_spin_pause(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

#if defined(__cplusplus)
}
#endif

#endif

#endif
