#pragma once

#include <stdbool.h>

// Boost.Signals2 for callers that do not speak C++.

#ifdef __cplusplus
extern "C" {
#endif

/// What is sent.
typedef struct {
  long value;
  /// Where a slot may count. Belongs to the thread that sends.
  long *_Nonnull tally;
} Signals2Event;

typedef void (*Signals2Slot)(void *_Nonnull context, Signals2Event event);

/// A `boost::signals2::signal`.
typedef struct Signals2Signal Signals2Signal;
/// A `boost::signals2::connection`, and what it tracks.
typedef struct Signals2Connection Signals2Connection;

/// Whether this was built with Boost.Signals2. If not, nothing else may be called.
bool signals2_is_available(void);

Signals2Signal *_Nonnull signals2_create(void);
void signals2_destroy(Signals2Signal *_Nonnull signal);

typedef void (*Signals2Release)(void *_Nonnull context);

/// Connects `slot`, which owns `context`: when no call of it is possible any more, `release` frees it.
///
/// If it is tracked, the connection owns `context` instead, and each call promotes a weak pointer to it, as
/// the documentation recommends for slots of objects.
Signals2Connection *_Nonnull signals2_connect(
    Signals2Signal *_Nonnull signal, Signals2Slot _Nonnull slot, void *_Nonnull context,
    Signals2Release _Nonnull release, bool tracked);
/// Disconnects, and frees `connection`.
void signals2_disconnect(Signals2Connection *_Nonnull connection);

void signals2_send(Signals2Signal *_Nonnull signal, Signals2Event event);

#ifdef __cplusplus
}
#endif
