// What Swift cannot say by itself: four entry points of the Swift runtime, a thread-local pointer,
// barriers of memory, and an annotation for the thread sanitizer. Nothing else is written in C.

#ifndef CMULTICAST_H
#define CMULTICAST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

// --- Entry points of the Swift runtime -------------------------------------------------------
// Exported, documented in docs/Runtime.md and stdlib/public/runtime/HeapObject.cpp of the Swift
// project, and part of its stable interface where there is one.

/// Retains a native Swift object unless its deinitialisation has begun.
/// Returns the object, or NULL. The caller holds an unowned reference, so the memory is there.
extern void *_Nullable swift_tryRetain(void *_Nonnull object);

/// Takes an unowned reference: keeps the object's memory, not its stored properties.
extern void *_Nonnull swift_unownedRetain(void *_Nonnull object);

/// Gives an unowned reference back.
extern void swift_unownedRelease(void *_Nonnull object);

/// Whether the deinitialisation of a native Swift object has begun. Retains nothing. The caller
/// holds an unowned reference. It orders nothing: see `cmulticast_fence_acquire`.
extern bool swift_isDeallocating(void *_Nonnull object);

// --- A pointer for each thread ---------------------------------------------------------------

extern _Thread_local void *_Nullable cmulticast_thread_pointer;

static inline void *_Nullable cmulticast_thread_get(void) { return cmulticast_thread_pointer; }
static inline void cmulticast_thread_set(void *_Nullable pointer) {
  cmulticast_thread_pointer = pointer;
}

// --- An asymmetric memory barrier ------------------------------------------------------------
// A thread that does  A; light; B  and one that does  C; heavy; D  cannot both miss each other:
// B sees C, or D sees A. The light half is free where the heavy half can interrupt every running
// thread of the process (Linux: membarrier(2)), and a full fence elsewhere.

/// Whether the light half must be a full fence. Constant after `cmulticast_barrier_prepare`.
extern bool cmulticast_light_barrier_is_fence;

static inline bool cmulticast_light_barrier_must_fence(void) {
  return cmulticast_light_barrier_is_fence;
}

/// Asks the system for the heavy half. Idempotent; called before a thread's first light half.
void cmulticast_barrier_prepare(void);

/// The heavy half: about a microsecond, from any thread.
void cmulticast_barrier_heavy(void);

/// The light half. `is_fence` is `cmulticast_light_barrier_is_fence`, read once per loop.
static inline void cmulticast_barrier_light(bool is_fence) {
  if (__builtin_expect(is_fence, 0)) {
    atomic_thread_fence(memory_order_seq_cst);
  } else {
    atomic_signal_fence(memory_order_seq_cst);
  }
}

// --- An acquire fence --------------------------------------------------------------------------

/// What is read after this is not older than what was read before it. The runtime reads the
/// reference count of an object relaxed: a thread that has found an object dead needs the fence
/// before it reads what was written before the object died.
static inline void cmulticast_fence_acquire(void) { atomic_thread_fence(memory_order_acquire); }

// --- The thread sanitizer --------------------------------------------------------------------

/// Whether this build is instrumented by the thread sanitizer.
extern const bool cmulticast_is_thread_sanitized;

/// Tells the thread sanitizer that what came before a release of `address` happened before what
/// follows. Does nothing in other builds.
void cmulticast_sanitizer_acquire(uintptr_t address);

// --- Memory -----------------------------------------------------------------------------------

/// Asks for the cache line at `address + offset`, which need not be valid.
static inline void cmulticast_prefetch(const void *_Nullable address, long offset) {
  __builtin_prefetch((const char *)address + offset, 0, 3);
}

#if defined(__cplusplus)
}
#endif

#endif
